// bf16 elements (`__nv_bfloat16`) in vectors; computations are in float, as PyTorch's are.
//
//   __global__ void scale(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, int count) {
//     const int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
//     if (i >= count) return;  // count is a multiple of 8
//     cudal1::Vector<float, 8> v = cudal1::to_float(cudal1::load<8>(x + i));
//     for (int k = 0; k < 8; ++k) v[k] *= 2.0f;
//     cudal1::store(y + i, cudal1::from_float<__nv_bfloat16>(v));
//   }
//
// Apart from vector.cuh since <cuda_bf16.h> takes the compiler longer than most programs.
#pragma once

#include <cuda_bf16.h>

#include <cudal1/vector.cuh>

namespace cudal1 {

template <>
struct FloatConversion<__nv_bfloat16> {
  static CUDAL1_INLINE float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
  static CUDAL1_INLINE __nv_bfloat16 from_float(float x) { return __float2bfloat16_rn(x); }
  //! The hardware converts two at once.
  static CUDAL1_INLINE void from_two_floats(float x, float y, __nv_bfloat16* pair) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
    pair[0] = both.x;
    pair[1] = both.y;
  }
};

}  // namespace cudal1
