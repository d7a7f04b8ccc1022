// Partial sums reduced by a tree in shared memory.
//! kernel reduce replaces * : grid=x.size(0) block=256 args=(x, sum_1, i32:x.size(1))
extern "C" __global__ void reduce(const float* x, float* y, int columns) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float sum = 0.0f;
  __shared__ float partial[256];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += in[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int width = blockDim.x / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) partial[threadIdx.x] += partial[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}
