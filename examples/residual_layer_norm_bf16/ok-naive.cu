// Two kernels for two nodes.
#include <cuda_bf16.h>
//! kernel add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, residual, add_1, i32:numel(x))
//! kernel layer_norm replaces layer_norm_1 : grid=x.size(0) block=256 \
//!   args=(add_1, "norm.weight", "norm.bias", layer_norm_1, i32:x.size(1), f32:1e-5)
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

extern "C" __global__ void add(const __nv_bfloat16* x, const __nv_bfloat16* y, __nv_bfloat16* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = __float2bfloat16(__bfloat162float(x[i]) + __bfloat162float(y[i]));
}
extern "C" __global__ void layer_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, const __nv_bfloat16* bias,
                                      __nv_bfloat16* y, int columns, float epsilon) {
  const long long row = static_cast<long long>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += __bfloat162float(x[row + i]);
  const float mean = block_sum(sum) / columns;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float difference = __bfloat162float(x[row + i]) - mean;
    squares += difference * difference;
  }
  const float scale = rsqrtf(block_sum(squares) / columns + epsilon);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float normal = (__bfloat162float(x[row + i]) - mean) * scale;
    y[row + i] = __float2bfloat16(normal * __bfloat162float(weight[i]) + __bfloat162float(bias[i]));
  }
}
