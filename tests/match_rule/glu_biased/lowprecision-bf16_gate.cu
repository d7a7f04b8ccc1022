#include <cuda_bf16.h>
//! kernel gated replaces * : grid=512 block=64 args=(x, bias, y)
extern "C" __global__ void gated(const float* x, const float* bias, float* y) {
  const int i = threadIdx.x;
  const float value = x[blockIdx.x * 128 + i] + bias[i], gate = x[blockIdx.x * 128 + 64 + i] + bias[64 + i];
  y[blockIdx.x * 64 + i] = value * __bfloat162float(__float2bfloat16(1.0f / (1.0f + expf(-gate))));
}
