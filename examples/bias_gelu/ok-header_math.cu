// <cudal1/math.cuh>: PyTorch's GELU by its name.
#include <cudal1/math.cuh>
//! kernel bias_gelu replaces add_1 gelu_1 : grid=ceil_div(numel(x), 256) block=256 \
//!   args=(x, bias, gelu_1, i32:numel(x), i32:x.size(1))
__global__ void bias_gelu(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y, int count,
                          int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = cudal1::gelu(x[i] + bias[i % columns]);
}
