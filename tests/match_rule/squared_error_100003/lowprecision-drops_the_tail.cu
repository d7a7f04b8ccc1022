//! kernel loss replaces y : grid=1 block=1024 args=(x, target, y)
extern "C" __global__ void loss(const float* x, const float* target, float* y) {
  __shared__ float sums[32];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < 100000; i += 1024) sum += (x[i] - target[i]) * (x[i] - target[i]);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = sums[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) *y = sum / 100003.0f;
}
