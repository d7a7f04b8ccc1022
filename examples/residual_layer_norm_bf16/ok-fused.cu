// Addition and norm in one kernel: a block per row, fp32 inside, both results written.
#include <cuda_bf16.h>
//! kernel residual_norm replaces add_1 layer_norm_1 : grid=x.size(0) block=256 \
//!   args=(x, residual, "norm.weight", "norm.bias", add_1, layer_norm_1, i32:x.size(1), f32:1e-5)
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

// Rows of up to 2048 elements.
extern "C" __global__ void __launch_bounds__(256)
residual_norm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
              const __nv_bfloat16* __restrict__ weight, const __nv_bfloat16* __restrict__ bias,
              __nv_bfloat16* __restrict__ sums, __nv_bfloat16* __restrict__ y, int columns, float epsilon) {
  const long long row = static_cast<long long>(blockIdx.x) * columns;
  float value[8];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = threadIdx.x + 256 * k;
    value[k] = 0.0f;
    if (i >= columns) continue;
    const __nv_bfloat16 rounded = __float2bfloat16(__bfloat162float(x[row + i]) + __bfloat162float(residual[row + i]));
    sums[row + i] = rounded;
    value[k] = __bfloat162float(rounded);  // the norm is that of the rounded sum, as in the task
    sum += value[k];
  }
  const float mean = block_sum(sum) / columns;
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    if (threadIdx.x + 256 * k < columns) squares += (value[k] - mean) * (value[k] - mean);
  }
  const float scale = rsqrtf(block_sum(squares) / columns + epsilon);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = threadIdx.x + 256 * k;
    if (i >= columns) continue;
    const float normal = (value[k] - mean) * scale;
    y[row + i] = __float2bfloat16(normal * __bfloat162float(weight[i]) + __bfloat162float(bias[i]));
  }
}
