// Warp-wide matrix products, made of mma.sync, whose layout of elements is documented: a product is then the same bit
// for bit wherever its PTX runs. Offered: half, bfloat16 and 8-bit integers as 16x16x16, 32x8x16 and 8x32x16, TF32 as
// 16x16x8. Which element of a tile lies where is not promised, as in CUDA.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

namespace detail {

// How elements of a type lie in the operands of one mma.sync of 16 rows and 8 columns; `group` is lane / 4, `place`
// lane % 4. rows: of the left operand; depth: the dimension that is summed over.
template <class T>
struct Operand;

struct HalfOperand {
  static constexpr int left_elements = 8, right_elements = 4;
  static CUDAL1_MEMBER int left_row(int i, int group) { return group + 8 * ((i >> 1) & 1); }
  static CUDAL1_MEMBER int left_depth(int i, int place) { return 2 * place + (i & 1) + 8 * (i >> 2); }
  static CUDAL1_MEMBER int right_depth(int i, int place) { return 2 * place + (i & 1) + 8 * (i >> 1); }
};
struct ByteOperand {
  static constexpr int left_elements = 8, right_elements = 4;
  static CUDAL1_MEMBER int left_row(int i, int group) { return group + 8 * (i >> 2); }
  static CUDAL1_MEMBER int left_depth(int i, int place) { return 4 * place + (i & 3); }
  static CUDAL1_MEMBER int right_depth(int i, int place) { return 4 * place + i; }
};
struct Tf32Operand {
  static constexpr int left_elements = 4, right_elements = 2;
  static CUDAL1_MEMBER int left_row(int i, int group) { return group + 8 * (i & 1); }
  static CUDAL1_MEMBER int left_depth(int i, int place) { return place + 4 * (i >> 1); }
  static CUDAL1_MEMBER int right_depth(int i, int place) { return place + 4 * i; }
};
template <>
struct Operand<__half> : HalfOperand {
  using Element = __half;
};
template <>
struct Operand<__nv_bfloat16> : HalfOperand {
  using Element = __nv_bfloat16;
};
template <>
struct Operand<signed char> : ByteOperand {
  using Element = signed char;
};
template <>
struct Operand<unsigned char> : ByteOperand {
  using Element = unsigned char;
};
template <>
struct Operand<precision::tf32> : Tf32Operand {
  using Element = float;
};

struct Position {
  int row, column;
};
CUDAL1_DEVICE int group() { return static_cast<int>(__nvvm_read_ptx_sreg_laneid()) >> 2; }
CUDAL1_DEVICE int place() { return static_cast<int>(__nvvm_read_ptx_sreg_laneid()) & 3; }

//! 8 rows are too few for mma.sync: such a product is computed as its transpose.
template <int M>
constexpr bool transposed = M == 8;

template <class T, int M>
struct Left {  // elements of a left operand of M rows
  static constexpr int count = M / 16 * Operand<T>::left_elements;
  static CUDAL1_MEMBER Position at(int i) {
    const int tile = i / Operand<T>::left_elements, e = i % Operand<T>::left_elements;
    return {16 * tile + Operand<T>::left_row(e, group()), Operand<T>::left_depth(e, place())};
  }
};
template <class T, int N>
struct Right {  // of a right operand of N columns
  static constexpr int count = N / 8 * Operand<T>::right_elements;
  static CUDAL1_MEMBER Position at(int i) {
    const int tile = i / Operand<T>::right_elements, e = i % Operand<T>::right_elements;
    return {Operand<T>::right_depth(e, place()), 8 * tile + group()};
  }
};
template <int M, int N>
struct Sums {
  static constexpr int count = M / 16 * (N / 8) * 4;
  static CUDAL1_MEMBER Position at(int i) {
    const int tile = i / 4, e = i % 4;
    return {16 * (tile / (N / 8)) + group() + 8 * (e >> 1), 8 * (tile % (N / 8)) + 2 * place() + (e & 1)};
  }
};
template <class Untransposed>
struct Transpose {
  static constexpr int count = Untransposed::count;
  static CUDAL1_MEMBER Position at(int i) {
    const Position p = Untransposed::at(i);
    return {p.column, p.row};
  }
};

template <bool choice, class A, class B>
struct Choose {
  using type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using type = B;
};
template <bool choice, class A, class B>
using choose = typename Choose<choice, A, B>::type;

template <class Use, int M, int N, class T>
struct Map;
template <int M, int N, class T>
struct Map<matrix_a, M, N, T> : choose<transposed<M>, Transpose<Right<T, 8>>, Left<T, M == 8 ? 16 : M>> {
  using Element = typename Operand<T>::Element;
};
template <int M, int N, class T>
    struct Map<matrix_b, M, N, T> : choose < transposed<M>,
    Transpose<Left<T, N<16 ? 16 : N>>, Right<T, N>> {
  using Element = typename Operand<T>::Element;
};
template <int M, int N, class T>
    struct Map<accumulator, M, N, T> : choose < transposed<M>,
    Transpose<Sums<N<16 ? 16 : N, 8>>, Sums<M == 8 ? 16 : M, N>> {
  using Element = T;
};

//! The elements of one 32-bit register. Bit by bit: copying bytes would put a fragment into local memory.
CUDAL1_DEVICE unsigned word(const float* x) { return __float_as_uint(*x); }
CUDAL1_DEVICE unsigned word(const __half* x) { return x[0].__x | static_cast<unsigned>(x[1].__x) << 16; }
CUDAL1_DEVICE unsigned word(const __nv_bfloat16* x) { return x[0].__x | static_cast<unsigned>(x[1].__x) << 16; }
CUDAL1_DEVICE unsigned word(const unsigned char* x) {
  return x[0] | static_cast<unsigned>(x[1]) << 8 | static_cast<unsigned>(x[2]) << 16 |
         static_cast<unsigned>(x[3]) << 24;
}
CUDAL1_DEVICE unsigned word(const signed char* x) { return word(reinterpret_cast<const unsigned char*>(x)); }

#define CUDAL1_MMA_FLOAT_SUMS(shape, types, T)                                                                         \
  CUDAL1_DEVICE void multiply(float* d, const T* a, const T* b, const float* c, T) {                                   \
    asm volatile("mma.sync.aligned." shape ".row.col." types                                                           \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                                                     \
                 "{%10, %11, %12, %13};"                                                                               \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                      \
                 : "r"(word(a)), "r"(word(a + 2)), "r"(word(a + 4)), "r"(word(a + 6)), "r"(word(b)), "r"(word(b + 2)), \
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));                                                        \
  }
CUDAL1_MMA_FLOAT_SUMS("m16n8k16", "f32.f16.f16.f32", __half)
CUDAL1_MMA_FLOAT_SUMS("m16n8k16", "f32.bf16.bf16.f32", __nv_bfloat16)
#undef CUDAL1_MMA_FLOAT_SUMS

CUDAL1_DEVICE void multiply(float* d, const float* a, const float* b, const float* c, const precision::tf32*) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(word(a)), "r"(word(a + 1)), "r"(word(a + 2)), "r"(word(a + 3)), "r"(word(b)), "r"(word(b + 1)), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

CUDAL1_DEVICE void multiply(__half* d, const __half* a, const __half* b, const __half* c, __half) {
  unsigned low, high;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
               : "=r"(low), "=r"(high)
               : "r"(word(a)), "r"(word(a + 2)), "r"(word(a + 4)), "r"(word(a + 6)), "r"(word(b)), "r"(word(b + 2)),
                 "r"(word(c)), "r"(word(c + 2)));
  d[0] = __half_raw{static_cast<unsigned short>(low)};
  d[1] = __half_raw{static_cast<unsigned short>(low >> 16)};
  d[2] = __half_raw{static_cast<unsigned short>(high)};
  d[3] = __half_raw{static_cast<unsigned short>(high >> 16)};
}

#define CUDAL1_MMA_INTEGER_SUMS(types, T)                                                                           \
  CUDAL1_DEVICE void multiply(int* d, const T* a, const T* b, const int* c, T) {                                    \
    asm volatile("mma.sync.aligned.m16n8k16.row.col." types " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};" \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                                   \
                 : "r"(word(a)), "r"(word(a + 4)), "r"(word(b)), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));       \
  }
CUDAL1_MMA_INTEGER_SUMS("s32.s8.s8.s32", signed char)
CUDAL1_MMA_INTEGER_SUMS("s32.u8.u8.s32", unsigned char)
#undef CUDAL1_MMA_INTEGER_SUMS

//! What tells `multiply` the type: a value of it, or a pointer where there are no values.
template <class T>
struct Tag {
  using type = T;
};
template <>
struct Tag<precision::tf32> {
  using type = const precision::tf32*;
};

template <class T, int M, int N, class Sum, class Element>
CUDAL1_DEVICE void multiply_tiles(Sum* d, const Element* left, const Element* right, const Sum* c) {
#pragma unroll
  for (int m = 0; m < M / 16; ++m)
#pragma unroll
    for (int n = 0; n < N / 8; ++n) {
      const int tile = 4 * (m * (N / 8) + n);
      multiply(d + tile, left + m * Operand<T>::left_elements, right + n * Operand<T>::right_elements, c + tile,
               typename Tag<T>::type());
    }
}

template <class Layout>
constexpr bool is_row_major = false;
template <>
constexpr bool is_row_major<row_major> = true;

}  // namespace detail

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  using Map = detail::Map<Use, M, N, T>;
  using element_type = typename Map::Element;
  static constexpr int num_elements = Map::count;
  static constexpr int num_storage_elements = Map::count;
  static CUDAL1_MEMBER detail::Position cudal1_position(int i) { return Map::at(i); }
  alignas(16) element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout>
CUDAL1_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f,
                                 const typename fragment<Use, M, N, K, T, Layout>::element_type& value) {
#pragma unroll
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}

template <class Use, int M, int N, int K, class T, class Layout, class E>
CUDAL1_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const E* matrix, unsigned int stride) {
#pragma unroll
  for (int i = 0; i < f.num_elements; ++i) {
    const detail::Position p = f.cudal1_position(i);
    f.x[i] = detail::is_row_major<Layout> ? matrix[p.row * stride + p.column] : matrix[p.column * stride + p.row];
  }
}

template <int M, int N, int K, class T>
CUDAL1_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* matrix, unsigned int stride,
                                    layout_t layout) {
#pragma unroll
  for (int i = 0; i < f.num_elements; ++i) {
    const detail::Position p = f.cudal1_position(i);
    f.x[i] = layout == mem_row_major ? matrix[p.row * stride + p.column] : matrix[p.column * stride + p.row];
  }
}

template <int M, int N, int K, class T>
CUDAL1_DEVICE void store_matrix_sync(T* matrix, const fragment<accumulator, M, N, K, T>& f, unsigned int stride,
                                     layout_t layout) {
#pragma unroll
  for (int i = 0; i < f.num_elements; ++i) {
    const detail::Position p = f.cudal1_position(i);
    (layout == mem_row_major ? matrix[p.row * stride + p.column] : matrix[p.column * stride + p.row]) = f.x[i];
  }
}

//! d = a * b + c
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class Sum>
CUDAL1_DEVICE void mma_sync(fragment<accumulator, M, N, K, Sum>& d, const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                            const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                            const fragment<accumulator, M, N, K, Sum>& c) {
  static_assert(K == (sizeof(typename detail::Operand<T>::Element) == 4 ? 8 : 16), "no matrix product of this shape");
  if constexpr (detail::transposed<M>) {
    detail::multiply_tiles<T, N, 8>(d.x, b.x, a.x, c.x);
  } else {
    detail::multiply_tiles<T, M, N>(d.x, a.x, b.x, c.x);
  }
}

CUDAL1_DEVICE float __float_to_tf32(float value) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return __uint_as_float(rounded);
}

}  // namespace wmma
}  // namespace nvcuda
