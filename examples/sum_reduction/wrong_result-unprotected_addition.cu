// Threads add into one shared number without atomics, so most additions are lost.
//! kernel row_sum replaces sum_1 : grid=x.size(0) block=256 args=(x, sum_1, i32:x.size(1))
extern "C" __global__ void row_sum(const float* x, float* sums, int columns) {
  __shared__ volatile float total;
  if (threadIdx.x == 0) total = 0.0f;
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float before = total;
    __syncthreads();
    total = before + x[static_cast<long long>(blockIdx.x) * columns + i];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
