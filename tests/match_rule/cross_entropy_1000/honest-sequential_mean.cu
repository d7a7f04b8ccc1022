// The losses of rows, added by one thread.
//! buffer losses f32 [256]
//! group loss replaces *
//! launch add : grid=x.size(0) block=128 args=(x, target, losses, i32:x.size(1))
//! launch divide : grid=1 block=1 args=(losses, cross_entropy_loss_1, i32:x.size(0))
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// Every thread gets the sum over the block; the block is a whole number of warps.
__device__ float block_sum(float value) {
  __shared__ float warp_sums[32];
  value = warp_sum(value);
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? warp_sums[threadIdx.x % 32] : 0.0f);
}

__device__ float warp_max(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

// Every thread gets the maximum over the block; the block is a whole number of warps.
__device__ float block_max(float value) {
  __shared__ float warp_maxima[32];
  value = warp_max(value);
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % 32 == 0) warp_maxima[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_max(warp_maxima[threadIdx.x % 32 < blockDim.x / 32 ? threadIdx.x % 32 : 0]);
}

extern "C" __global__ void add(const float* x, const long long* target, float* losses, int columns) {
  const float* in = x + blockIdx.x * columns;
  float largest = in[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, in[i]);
  largest = block_max(largest);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(in[i] - largest);
  sum = block_sum(sum);
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) + largest - in[target[blockIdx.x]];
}
extern "C" __global__ void divide(const float* losses, float* y, int rows) {
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) sum += losses[row];
  y[0] = sum / rows;
}
