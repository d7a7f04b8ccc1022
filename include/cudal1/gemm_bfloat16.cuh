// bf16 operands for <cudal1/gemm.cuh>.
//
//   using X = cudal1::StridedOperand<__nv_bfloat16, 1000, 512, true, 512, 8>;
//   using Product = cudal1::TiledProduct<Tile, cudal1::HalfInputs, X, W>;
#pragma once

#include <cudal1/bfloat16.cuh>
#include <cudal1/gemm.cuh>

namespace cudal1 {

template <>
struct HalfProduct<__nv_bfloat16> {
  static CUDAL1_INLINE void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    multiply_add_bf16(sums, a, b);
  }
};

}  // namespace cudal1
