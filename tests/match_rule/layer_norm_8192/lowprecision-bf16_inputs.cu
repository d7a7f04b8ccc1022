// Reads the row once and keeps it in bf16.
#include <cuda_bf16.h>
//! kernel normalize replaces layer_norm_1 : grid=x.size(0) block=256 args=(x, "norm.weight", "norm.bias", layer_norm_1, i32:x.size(0), i32:x.size(1))
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

__device__ float round_to_bf16(float value) { return __bfloat162float(__float2bfloat16(value)); }

extern "C" __global__ void normalize(const float* x, const float* weight, const float* bias, float* y, int rows,
                                     int columns) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float* out = y + static_cast<long long>(blockIdx.x) * columns;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    sum += round_to_bf16(in[i]);
    squares += round_to_bf16(in[i]) * round_to_bf16(in[i]);
  }
  const float mean = block_sum(sum) / columns;
  squares = block_sum(squares) / columns;
  const float scale = rsqrtf(fmaxf(squares - mean * mean, 0.0f) + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = (round_to_bf16(in[i]) - mean) * scale * weight[i] + bias[i];
}
