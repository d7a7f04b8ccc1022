// Operands of matrix products (<cudal1/gemm.cuh>) whose elements lie where two parts say: one of the line, found once,
// and one of the depth. Convolutions are such products: lines are places of the result, the depth goes through channels
// and places in the window, and what lies beyond the ends of the input counts as 0.
//
//   // y[o] = sum over k of w[k] * x[o + k - 1]: element (o, k) of the operand is x[o + k - 1], 0 <= o + k - 1 < 100
//   const auto tap = [](unsigned k) { return cudal1::Spot<1>{static_cast<int>(k), {static_cast<int>(k)}}; };
//   const int o = first_column + threadIdx.x % Tile::columns;  // the line that the thread brings
//   const auto right = cudal1::gathered_operand<100>(x, cudal1::Spot<1>{o - 1, {o - 1}}, o < 100, tap);
#pragma once

#include <cudal1/gemm.cuh>

namespace cudal1 {

//! A part of a place in memory, in elements, and of the indices that must lie inside the tensor.
template <int indices>
struct Spot {
  int place;
  int at[indices > 0 ? indices : 1];
};

//! `sizes`: of the dimensions whose indices are asked about. Each thread has one line.
template <class T, class Tap, int... sizes>
struct GatheredOperand {
  using Element = T;
  static constexpr bool along_depth = false;
  const T* base;
  Spot<static_cast<int>(sizeof...(sizes))> line;
  bool is_line;  //!< there is such a line
  Tap tap;

  template <class Shared, int threads>
  CUDAL1_INLINE void bring(T* shared, int, int first_depth, int end) const {
    static_assert(threads % Shared::lines == 0, "a thread has one line");
    constexpr int step = threads / Shared::lines;
    static_assert(Shared::depth % step == 0, "all threads bring as many elements");
    T* const to = shared + Shared::place(threadIdx.x % Shared::lines, threadIdx.x / Shared::lines);
#pragma unroll
    for (int i = 0; i < Shared::depth; i += step) {
      const int k = first_depth + static_cast<int>(threadIdx.x / Shared::lines) + i;
      const auto part = tap(static_cast<unsigned>(k));
      const bool is_there = is_line && k < end && is_inside(part);
      copy(to + (Shared::place(0, i) - Shared::place(0, 0)), base + (line.place + part.place), is_there);
    }
  }

  //! As StridedOperand has it, of the thread's own line.
  template <int count, int tile_lines, bool whole>
  CUDAL1_INLINE void take(T* to, int, int k, int end) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const auto part = tap(static_cast<unsigned>(k + i));
      const bool is_there = is_line && (whole || k + i < end) && is_inside(part);
      to[i] = is_there ? base[line.place + part.place] : T(0.0f);
    }
  }

 private:
  //! One comparison for both ends.
  template <class Part>
  CUDAL1_INLINE bool is_inside(const Part& part) const {
    [[maybe_unused]] int i = 0;
    bool inside = true;
    ((inside &= static_cast<unsigned>(line.at[i] + part.at[i]) < static_cast<unsigned>(sizes), ++i), ...);
    return inside;
  }

  CUDAL1_INLINE void copy(T* to, const T* from, bool is_there) const {
    if constexpr (sizeof(T) < 4)
      *to = is_there ? *from : T(0.0f);
    else
      copy_async<sizeof(T)>(to, is_there ? from : base, is_there ? static_cast<int>(sizeof(T)) : 0);
  }
};

template <int... sizes, class T, class Tap>
CUDAL1_INLINE GatheredOperand<T, Tap, sizes...> gathered_operand(const T* base,
                                                                 Spot<static_cast<int>(sizeof...(sizes))> line,
                                                                 bool is_line, Tap tap) {
  return {base, line, is_line, tap};
}

}  // namespace cudal1
