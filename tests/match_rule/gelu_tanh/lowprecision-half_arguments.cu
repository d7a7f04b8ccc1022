// Computes the argument of tanh in fp16.
#include <cuda_fp16.h>
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const __half h = __float2half(v);
  const __half u = __hmul(__float2half(0.79788456f), __hadd(h, __hmul(__float2half(0.044715f), __hmul(h, __hmul(h, h)))));
  y[i] = 0.5f * v * (1.0f + tanhf(__half2float(u)));
}
