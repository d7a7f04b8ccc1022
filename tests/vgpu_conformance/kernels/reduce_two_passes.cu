// The sum of a vector: one number per block, then one block for those.
//! let n = 20000
//! let blocks = (n+255)/256
//! input x f32[n] random
//! buffer partial f32[blocks] poison
//! buffer total f32[1] poison
//! launch sum grid=(blocks) block=(256) args=(x, partial, i32:n)
//! launch sum grid=(1) block=(256) args=(partial, total, i32:blocks)
//! reference sum_all
//! check total exactly, reference relative 1e-5

__global__ void sum(const float* x, float* sums, int n) {
  __shared__ float partial[256];
  float own = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) own += x[i];
  partial[threadIdx.x] = own;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
