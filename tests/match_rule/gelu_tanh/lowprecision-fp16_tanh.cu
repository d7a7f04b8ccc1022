// Rounds the tanh to fp16.
#include <cuda_fp16.h>
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
__device__ float round_to_fp16(float value) { return __half2float(__float2half(value)); }

extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  y[i] = 0.5f * v * (1.0f + round_to_fp16(tanhf(0.79788456f * (v + 0.044715f * v * v * v))));
}
