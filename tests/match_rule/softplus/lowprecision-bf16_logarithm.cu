// Rounds the logarithm to bf16.
#include <cuda_bf16.h>
//! kernel activation replaces softplus_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, softplus_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  y[i] = fmaxf(v, 0.0f) + __bfloat162float(__float2bfloat16(log1pf(expf(-fabsf(v)))));
}
