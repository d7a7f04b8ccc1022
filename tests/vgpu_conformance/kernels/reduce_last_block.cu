// The sum of a vector in one launch: the block that finishes last adds what the others left.
//! let n = 20000
//! let blocks = 37
//! input x f32[n] random
//! buffer partial f32[blocks] poison
//! buffer finished u32[1] zero
//! buffer total f32[1] poison
//! launch sum grid=(blocks) block=(128) args=(x, partial, finished, total, i32:n)
//! reference sum_all
//! check total exactly, reference relative 1e-5

__device__ float block_sum(float value) {
  __shared__ float partial[4];
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  return partial[0] + partial[1] + partial[2] + partial[3];
}

__global__ void sum(const float* x, volatile float* sums, unsigned* finished, float* total, int n) {
  __shared__ bool last;
  float own = 0.0f;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) own += x[i];
  own = block_sum(own);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = own;
    __threadfence();
    last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  own = block_sum(threadIdx.x < gridDim.x ? sums[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) *total = own;
}
