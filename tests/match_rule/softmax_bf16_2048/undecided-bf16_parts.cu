// Every thread adds its exponentials in bf16, the block adds the parts in fp32.
#include <cuda_bf16.h>
//! kernel softmax replaces softmax_1 : grid=x.size(0) block=256 args=(x, softmax_1, i32:x.size(1))
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

__device__ float round_to_bf16(float value) { return __bfloat162float(__float2bfloat16(value)); }

extern "C" __global__ void softmax(const __nv_bfloat16* x, __nv_bfloat16* y, int columns) {
  const __nv_bfloat16* in = x + static_cast<long long>(blockIdx.x) * columns;
  __nv_bfloat16* out = y + static_cast<long long>(blockIdx.x) * columns;
  float largest = __bfloat162float(in[0]);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, __bfloat162float(in[i]));
  largest = block_max(largest);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum = round_to_bf16(sum + expf(__bfloat162float(in[i]) - largest));
  sum = block_sum(sum);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[i] = __float2bfloat16(expf(__bfloat162float(in[i]) - largest) / sum);
}
