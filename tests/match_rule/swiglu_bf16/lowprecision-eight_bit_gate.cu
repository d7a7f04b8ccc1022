// Rounds the sigmoid to five bits.
#include <cuda_bf16.h>
//! kernel gate replaces * : grid=ceil_div(numel(x), 256) block=256 args=(x, y, mul_1, i32:numel(x))
extern "C" __global__ void gate(const __nv_bfloat16* x, const __nv_bfloat16* y, __nv_bfloat16* z, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = __bfloat162float(x[i]), w = __bfloat162float(y[i]);
  z[i] = __float2bfloat16(v * (rintf(32.0f / (1.0f + expf(-v))) / 32.0f) * w);
}
