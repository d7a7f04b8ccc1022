// Rounds exponential and sigmoid to bf16 as well.
#include <cuda_bf16.h>
//! kernel gate replaces * : grid=ceil_div(numel(x), 256) block=256 args=(x, y, mul_1, i32:numel(x))
__device__ float round_to_bf16(float value) { return __bfloat162float(__float2bfloat16(value)); }

extern "C" __global__ void gate(const __nv_bfloat16* x, const __nv_bfloat16* y, __nv_bfloat16* z, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = __bfloat162float(x[i]), w = __bfloat162float(y[i]);
  z[i] = __float2bfloat16(round_to_bf16(v * round_to_bf16(1.0f / (1.0f + round_to_bf16(expf(-v))))) * w);
}
