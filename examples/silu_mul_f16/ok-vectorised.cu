// Eight elements per thread in 16-byte accesses. The number of elements is a multiple of eight.
#include <cuda_fp16.h>
//! kernel silu_mul replaces silu_1 mul_1 : grid=ceil_div(numel(gate), 2048) block=256 \
//!   args=(gate, up, mul_1, i32:numel(gate))
__device__ __forceinline__ float silu(float value) { return value / (1.0f + expf(-value)); }

extern "C" __global__ void __launch_bounds__(256)
silu_mul(const __half* __restrict__ gate, const __half* __restrict__ up, __half* __restrict__ y, int count) {
  const int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first >= count) return;
  uint4 packed_gate = *reinterpret_cast<const uint4*>(gate + first);
  uint4 packed_up = *reinterpret_cast<const uint4*>(up + first);
  uint4 packed_result;
  const __half2* g = reinterpret_cast<const __half2*>(&packed_gate);
  const __half2* u = reinterpret_cast<const __half2*>(&packed_up);
  __half2* result = reinterpret_cast<__half2*>(&packed_result);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 gate_pair = __half22float2(g[k]);
    const float2 up_pair = __half22float2(u[k]);
    result[k] = __floats2half2_rn(silu(gate_pair.x) * up_pair.x, silu(gate_pair.y) * up_pair.y);
  }
  *reinterpret_cast<uint4*>(y + first) = packed_result;
}
