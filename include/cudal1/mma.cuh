// Products of small matrices that a warp computes on tensor cores, and the loads that deal their elements to its lanes.
//
//   float sums[4] = {};                                      // 16x8: see row_of_sum and column_of_sum
//   unsigned a[4], b[4];
//   cudal1::load_matrices(a, &rows[lane() % 16][lane() / 16 * 4]);                          // A: 16 rows of 8 floats
//   cudal1::load_matrices(b, &columns[lane() % 8 + lane() / 16 * 8][lane() / 8 % 2 * 4]);   // B: 16 columns of 8
//   cudal1::Tf32Parts<4> a_parts(a);
//   cudal1::Tf32Parts<2> b_parts(b);                         // the first 8 columns
//   cudal1::multiply_add_tf32(sums, a_parts.small, b_parts.big);
//   cudal1::multiply_add_tf32(sums, a_parts.big, b_parts.small);
//   cudal1::multiply_add_tf32(sums, a_parts.big, b_parts.big);
//
// With g = lane / 4 and t = lane % 4 a lane has, of TF32 (16x8 by 8x8): a = (g, t), (g+8, t), (g, t+4), (g+8, t+4) as
// (row, k), b = t, t+4 as k in column g; of 16-bit types (16x16 by 16x8) pairs with k = 2t, 2t+1 in place of t, and
// 8 + 2t in place of t+4; of the sums (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1).
//
// Tensor cores cut off what they add: after some 4 products in a row add the sums to registers of your own, or an error
// of 10 times fp32's grows over a few thousand elements.
#pragma once

#include <cudal1/async_copy.cuh>
#include <cudal1/shuffle.cuh>

namespace cudal1 {

//! Four matrices of 8 rows of 16 bytes (ldmatrix): lane l names row l % 8 of matrix l / 8, and gets of each matrix the
//! 4 bytes at row lane / 4 and byte 4 * (lane % 4).
CUDAL1_INLINE void load_matrices(unsigned (&words)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(row))
               : "memory");
}

//! The same of 16-bit elements, transposed: each lane gets rows 2t and 2t+1 of column g.
CUDAL1_INLINE void load_matrices_transposed(unsigned (&words)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(row))
               : "memory");
}

CUDAL1_INLINE void multiply_add_tf32(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

//! The same, added to nothing.
CUDAL1_INLINE void multiply_tf32(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, "
      "%10, %10};"
      : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

CUDAL1_INLINE void multiply_add_f16(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

CUDAL1_INLINE void multiply_add_bf16(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

//! The nearest TF32 number, in the upper 19 bits.
CUDAL1_INLINE unsigned rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

//! fp32 numbers as sums of two TF32 numbers each: big, and what is left of it. The small part is not rounded: tensor
//! cores do not look at the lower 13 bits, and what they miss is 2^-22 of the number, of either sign.
template <int count>
struct Tf32Parts {
  unsigned big[count], small[count];

  CUDAL1_INLINE Tf32Parts() {}
  CUDAL1_INLINE explicit Tf32Parts(const unsigned* words) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const float x = __uint_as_float(words[i]);
      big[i] = rounded_to_tf32(x);
      small[i] = __float_as_uint(x - __uint_as_float(big[i]));
    }
  }
};

}  // namespace cudal1
