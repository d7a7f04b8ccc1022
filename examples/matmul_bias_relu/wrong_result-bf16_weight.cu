// `prepare` keeps the weight in bf16: half the memory, and eight bits of mantissa.
#include <cuda_bf16.h>
//! buffer compact bf16 ["fc.weight".size(0), "fc.weight".size(1)]
//! prepare narrow : grid=ceil_div(numel("fc.weight"), 256) block=256 \
//!   args=("fc.weight", compact, i32:numel("fc.weight"))
//! kernel linear_relu replaces linear_1 relu_1 : grid=(ceil_div(relu_1.size(1), 32), ceil_div(relu_1.size(0), 8)) \
//!   block=(32, 8) args=(x, compact, "fc.bias", relu_1, i32:x.size(0), i32:relu_1.size(1), i32:x.size(1))
extern "C" __global__ void narrow(const float* from, __nv_bfloat16* to, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = __float2bfloat16(from[i]);
}
extern "C" __global__ void linear_relu(const float* x, const __nv_bfloat16* weight, const float* bias, float* y,
                                       int rows, int columns, int inner) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < inner; ++k) sum += x[row * inner + k] * __bfloat162float(weight[column * inner + k]);
  y[row * columns + column] = fmaxf(sum + bias[column], 0.0f);
}
