// The weight by a kernel of its own, the product by the library.
//! kernel scaled_weight replaces norm_1 div_1 mul_1 : grid="fc.direction".size(0) block=128 \
//!   args=("fc.direction", "fc.length", mul_1, i32:"fc.direction".size(1))
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

extern "C" __global__ void scaled_weight(const float* direction, const float* length, float* weight, int columns) {
  float squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float value = direction[blockIdx.x * columns + i];
    squares += value * value;
  }
  const float scale = length[blockIdx.x] / sqrtf(block_sum(squares));
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    weight[blockIdx.x * columns + i] = direction[blockIdx.x * columns + i] * scale;
  }
}
