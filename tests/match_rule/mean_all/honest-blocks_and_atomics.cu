// Blocks add their sums by atomics, the last kernel divides.
//! buffer sum f32 [1] zero
//! group mean replaces *
//! launch add : grid=64 block=256 args=(x, sum, i32:numel(x))
//! launch divide : grid=1 block=1 args=(sum, mean_1, i32:numel(x))
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

extern "C" __global__ void add(const float* x, float* total, int count) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}
extern "C" __global__ void divide(const float* total, float* y, int count) { y[0] = total[0] / count; }
