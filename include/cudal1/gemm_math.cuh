// What the warps of a block do with two tiles in shared memory: the arithmetic of <cudal1/gemm.cuh>.
//
//   cudal1::Tf32x3::Sums<float, Tile, SharedA, SharedB> sums;  // zeros, in registers
//   sums.add(tile_of_a, tile_of_b);                            // += A B, between barriers
//   sums.store(memory);                                        // Tile::rows x Tile::columns, Tile::sums_stride apart
#pragma once

#include <cudal1/mma.cuh>
#include <cudal1/vector.cuh>

namespace cudal1 {

//! What a block computes: rows x columns sums, `depth` products of each at a time, its warps side by side.
template <int rows_, int columns_, int depth_, int warps_down, int warps_across, int stages_>
struct ProductTile {
  static constexpr int rows = rows_, columns = columns_, depth = depth_, stages = stages_;
  static constexpr int threads = 32 * warps_down * warps_across;
  static constexpr int warp_rows = rows / warps_down, warp_columns = columns / warps_across;
  static constexpr int sums_stride = columns + 4;  // neighbouring rows lie in different banks
  static_assert(stages >= 2, "a tile is brought while another is multiplied: two stages at least");

  static CUDAL1_INLINE int first_row() { return threadIdx.x / 32 / warps_across * warp_rows; }
  static CUDAL1_INLINE int first_column() { return threadIdx.x / 32 % warps_across * warp_columns; }
};

//! A tile of an operand in shared memory. The padding lets 8 rows of 16 bytes, and 4 rows of 8 lanes, lie in different
//! banks.
template <class T, int lines_, int depth_, bool along_depth_>
struct SharedOperand {
  static constexpr int lines = lines_, depth = depth_;
  static constexpr bool along_depth = along_depth_;
  static constexpr int stride = along_depth ? depth + 16 / static_cast<int>(sizeof(T)) : lines + 8;
  static constexpr int elements = (along_depth ? lines : depth) * stride;

  static CUDAL1_INLINE int place(int line, int k) { return along_depth ? line * stride + k : k * stride + line; }
};

//! Which of a warp's lines the lanes have. In order where a line's elements lie side by side. Where lines do, a lane
//! reads up to 4 neighbours at once, and the lines that one instruction multiplies lie that far apart.
template <int lines, bool in_order>
struct LaneLines {
  static constexpr int count = lines / 8, neighbours = count < 4 ? count : 4;
  static CUDAL1_INLINE int of(int index, int lane_line) {
    if (in_order) return 8 * index + lane_line;
    return index / neighbours * (8 * neighbours) + neighbours * lane_line + index % neighbours;
  }
};

//! The sums of a warp in registers as instructions for tensor cores have them, and the way out.
template <class Tile, bool rows_in_order, bool columns_in_order>
struct WarpSums {
  static constexpr int down = Tile::warp_rows / 16, across = Tile::warp_columns / 8;
  float sum[down][across][4];

  CUDAL1_INLINE void clear() {
#pragma unroll
    for (int i = 0; i < down * across * 4; ++i) sum[i / 4 / across][i / 4 % across][i % 4] = 0.0f;
  }

  CUDAL1_INLINE void add(const WarpSums& other) {
#pragma unroll
    for (int i = 0; i < down * across * 4; ++i)
      sum[i / 4 / across][i / 4 % across][i % 4] += other.sum[i / 4 / across][i / 4 % across][i % 4];
  }

  //! Neighbours in a row go together.
  CUDAL1_INLINE void store(float* to) const {
    using Rows = LaneLines<Tile::warp_rows, rows_in_order>;
    using Columns = LaneLines<Tile::warp_columns, columns_in_order>;
    constexpr int together = columns_in_order ? 2 : Columns::neighbours;
#pragma unroll
    for (int i = 0; i < down * across * 4; i += together) {
      const int half = i / 2 / across % 2, first = i % (2 * across);  // of the lane's sums in a row, as they lie there
      Vector<float, together> row_part;
#pragma unroll
      for (int n = 0; n < together; ++n) row_part[n] = in_row(i / 4 / across, half, first + n);
      const int row = Tile::first_row() + Rows::of(2 * (i / 4 / across) + half, lane() / 4);
      cudal1::store(to + row * Tile::sums_stride + Tile::first_column() + column_of(first), row_part);
    }
  }

 private:
  //! In order: instruction after instruction, two neighbours each. Else `neighbours` instructions take turns.
  CUDAL1_INLINE float in_row(int i, int half, int index) const {
    constexpr int neighbours = LaneLines<Tile::warp_columns, columns_in_order>::neighbours;
    if (columns_in_order) return sum[i][index / 2][2 * half + index % 2];
    return sum[i][index / (2 * neighbours) * neighbours + index % neighbours][2 * half + index / neighbours % 2];
  }
  static CUDAL1_INLINE int column_of(int index) {
    using Columns = LaneLines<Tile::warp_columns, columns_in_order>;
    if (columns_in_order) return Columns::of(index / 2, 2 * (lane() % 4) + index % 2);
    return Columns::of(index / (2 * Columns::neighbours) * Columns::neighbours + index % Columns::neighbours,
                       2 * (lane() % 4) + index / Columns::neighbours % 2);
  }
};

//! What a warp multiplies at once of two tiles of fp32: 8 elements of each of its rows and columns, as the words that
//! the lanes have for TF32 (<cudal1/mma.cuh>).
template <class Tile, class A, class B>
struct WarpWords {
  static constexpr int down = Tile::warp_rows / 16, across = Tile::warp_columns / 8;
  unsigned a[down][4], b[across][2];

  //! Those at k, k + 1 … k + 7.
  CUDAL1_INLINE void take(const float* tile_of_a, const float* tile_of_b, int k) {
    load_a(tile_of_a, k);
    load_b(tile_of_b, k);
  }

 private:
  CUDAL1_INLINE void load_a(const float* from, int k) {
    if constexpr (A::along_depth) {
#pragma unroll
      for (int i = 0; i < down; ++i)
        load_matrices(a[i], from + A::place(Tile::first_row() + 16 * i + lane() % 16, k + lane() / 16 * 4));
    } else {
      using Lines = LaneLines<Tile::warp_rows, false>;
#pragma unroll
      for (int index = 0; index < Lines::count; index += Lines::neighbours) {
        const int line = Tile::first_row() + Lines::of(index, lane() / 4);
        const auto near = load<Lines::neighbours>(from + A::place(line, k + lane() % 4));
        const auto far = load<Lines::neighbours>(from + A::place(line, k + lane() % 4 + 4));
#pragma unroll
        for (int n = 0; n < Lines::neighbours; ++n) {
          a[(index + n) / 2][(index + n) % 2] = __float_as_uint(near[n]);
          a[(index + n) / 2][(index + n) % 2 + 2] = __float_as_uint(far[n]);
        }
      }
    }
  }

  CUDAL1_INLINE void load_b(const float* from, int k) {
    if constexpr (B::along_depth) {
#pragma unroll
      for (int j = 0; j < across; j += 2) {
        unsigned both[4];
        const int column = Tile::first_column() + 8 * j + lane() % 8 + lane() / 16 * 8;
        load_matrices(both, from + B::place(column, k + lane() / 8 % 2 * 4));
#pragma unroll
        for (int n = 0; n < 4; ++n) b[j + n / 2][n % 2] = both[n];
      }
    } else {
      using Lines = LaneLines<Tile::warp_columns, false>;
#pragma unroll
      for (int index = 0; index < Lines::count; index += Lines::neighbours) {
        const int line = Tile::first_column() + Lines::of(index, lane() / 4);
        const auto near = load<Lines::neighbours>(from + B::place(line, k + lane() % 4));
        const auto far = load<Lines::neighbours>(from + B::place(line, k + lane() % 4 + 4));
#pragma unroll
        for (int n = 0; n < Lines::neighbours; ++n) {
          b[index + n][0] = __float_as_uint(near[n]);
          b[index + n][1] = __float_as_uint(far[n]);
        }
      }
    }
  }
};

//! fp32 products on tensor cores: an operand is the sum of two TF32 numbers, and of the four products of their parts
//! the three large ones count. Tensor cores cut off what they add, so they never add more than `in_a_row` (8, 16 or 32)
//! elements' products; for more than 8 their sums need registers of their own. `ahead`: what the next 8 need is loaded
//! while these are multiplied.
template <int in_a_row, bool ahead_>
struct Tf32x3By {
  static_assert(in_a_row == 8 || in_a_row == 16 || in_a_row == 32, "8, 16 or 32 products in a row");
  static constexpr bool wants_lines = false, ahead = ahead_;

  template <class T, class Tile, class A, class B>
  struct Sums {
    static constexpr int down = Tile::warp_rows / 16, across = Tile::warp_columns / 8, steps = Tile::depth / 8;
    static_assert(!ahead || steps % 2 == 0, "what is loaded ahead takes turns: a depth of 16, 32, 48 …");
    using Registers = WarpSums<Tile, A::along_depth, B::along_depth>;
    using Words = WarpWords<Tile, A, B>;
    Registers total;
    Words words[ahead ? 2 : 1];

    CUDAL1_INLINE Sums() { total.clear(); }

    CUDAL1_INLINE void add(const float* a, const float* b) {
      Registers part;
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        words[0].take(a, b, 8 * step);
        multiply(part, words[0], step);
      }
    }

    //! Before the first tile.
    CUDAL1_INLINE void start(const float* a, const float* b) { words[0].take(a, b, 0); }

    //! What `start` or the tile before did not load yet of this tile, and the start of the next one, which `next` waits
    //! for: it returns the tile of A, and that of B follows it.
    template <class Next>
    CUDAL1_INLINE void add_ahead(const float* a, Next next) {
      Registers part;
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        const float* from = step + 1 < steps ? a : next();
        words[(step + 1) % 2].take(from, from + A::elements, 8 * ((step + 1) % steps));
        multiply(part, words[step % 2], step);
      }
    }

    CUDAL1_INLINE void store(float* to) const { total.store(to); }

   private:
    CUDAL1_INLINE void multiply(Registers& part, const Words& step_words, int step) {
      Tf32Parts<2> b[across];
#pragma unroll
      for (int j = 0; j < across; ++j) b[j] = Tf32Parts<2>(step_words.b[j]);
      if constexpr (in_a_row == 8)
        multiply_alone(step_words, b);
      else
        multiply_in_a_row(part, step_words, b, 8 * step % in_a_row == 0);
      if (in_a_row > 8 && (8 * (step + 1) % in_a_row == 0 || step + 1 == steps)) total.add(part);
    }

    //! The first step of a part has nothing to add to.
    static CUDAL1_INLINE void multiply_in_a_row(Registers& part, const Words& step_words,
                                                const Tf32Parts<2> (&b)[across], bool is_first) {
#pragma unroll
      for (int i = 0; i < down; ++i) {
        const Tf32Parts<4> a(step_words.a[i]);
        multiply_three<across>(part.sum[i], a, b, is_first);
      }
    }

    //! Some sums at a time: those before are added up while tensor cores have the next ones.
    CUDAL1_INLINE void multiply_alone(const Words& step_words, const Tf32Parts<2> (&b)[across]) {
      constexpr int at_once = across % 4 == 0 ? 4 : across % 2 == 0 ? 2 : 1, groups = across / at_once;
      float sums[2][at_once][4];
      Tf32Parts<4> a;
#pragma unroll
      for (int n = 0; n < down * groups; ++n) {
        if (n % groups == 0) a = Tf32Parts<4>(step_words.a[n / groups]);
        multiply_three<at_once>(sums[n % 2], a, b + n % groups * at_once, true);
        if (n > 0) take(sums[(n - 1) % 2], n - 1);
      }
      take(sums[(down * groups - 1) % 2], down * groups - 1);
    }

    template <int count>
    static CUDAL1_INLINE void multiply_three(float (*sums)[4], const Tf32Parts<4>& a, const Tf32Parts<2>* b,
                                             bool is_first) {
#pragma unroll
      for (int j = 0; j < count; ++j) {
        if (is_first)
          multiply_tf32(sums[j], a.small, b[j].big);
        else
          multiply_add_tf32(sums[j], a.small, b[j].big);
      }
#pragma unroll
      for (int j = 0; j < count; ++j) multiply_add_tf32(sums[j], a.big, b[j].small);
#pragma unroll
      for (int j = 0; j < count; ++j) multiply_add_tf32(sums[j], a.big, b[j].big);
    }

    template <int count>
    CUDAL1_INLINE void take(const float (&sums)[count][4], int group) {
      constexpr int groups = across / count;
#pragma unroll
      for (int j = 0; j < count; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) total.sum[group / groups][group % groups * count + j][e] += sums[j][e];
    }
  };
};

//! 32 in a row, which adds least apart.
using Tf32x3 = Tf32x3By<32, false>;

//! 16 elements of each row and column by two instructions of 8.
struct ToTf32 {
  template <class Words, class Sums>
  static CUDAL1_INLINE void multiply_add(Sums& sums, const Words (&words)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned b[Words::across][2];
#pragma unroll
      for (int j = 0; j < Words::across; ++j) round(b[j], words[half].b[j]);
#pragma unroll
      for (int i = 0; i < Words::down; ++i) {
        unsigned a[4];
        round(a, words[half].a[i]);
#pragma unroll
        for (int j = 0; j < Words::across; ++j) multiply_add_tf32(sums.sum[i][j], a, b[j]);
      }
    }
  }

 private:
  template <int count>
  static CUDAL1_INLINE void round(unsigned (&to)[count], const unsigned (&words)[count]) {
#pragma unroll
    for (int n = 0; n < count; ++n) to[n] = rounded_to_tf32(__uint_as_float(words[n]));
  }
};

//! By one instruction. It wants pairs of neighbours along the depth, and a lane has elements four apart; whichever 16
//! they are, both operands have the same ones in the same places.
struct ToBf16 {
  template <class Words, class Sums>
  static CUDAL1_INLINE void multiply_add(Sums& sums, const Words (&words)[2]) {
    unsigned b[Words::across][2];
#pragma unroll
    for (int j = 0; j < Words::across; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) b[j][half] = pair(words[half].b[j][0], words[half].b[j][1]);
#pragma unroll
    for (int i = 0; i < Words::down; ++i) {
      unsigned a[4];
#pragma unroll
      for (int n = 0; n < 4; ++n) a[n] = pair(words[n / 2].a[i][n % 2], words[n / 2].a[i][n % 2 + 2]);
#pragma unroll
      for (int j = 0; j < Words::across; ++j) multiply_add_bf16(sums.sum[i][j], a, b[j]);
    }
  }

 private:
  //! The nearest bf16 numbers, the first in the lower half.
  static CUDAL1_INLINE unsigned pair(unsigned first, unsigned second) {
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(__uint_as_float(second)), "f"(__uint_as_float(first)));
    return both;
  }
};

//! fp32 operands that are rounded before tensor cores multiply them, ToTf32 to 11 bits, ToBf16 to 8: one product in
//! place of Tf32x3's three, with the digits that are left. What tensor cores cut off when they add is far less than
//! what rounding takes away, so they add all the way.
template <class Rounding>
struct RoundedInputs {
  static constexpr bool wants_lines = false, ahead = false;

  template <class T, class Tile, class A, class B>
  struct Sums {
    static_assert(Tile::depth % 16 == 0, "16 products at a time");
    WarpSums<Tile, A::along_depth, B::along_depth> total;

    CUDAL1_INLINE Sums() { total.clear(); }

    CUDAL1_INLINE void add(const float* a, const float* b) {
#pragma unroll
      for (int k = 0; k < Tile::depth; k += 16) {
        WarpWords<Tile, A, B> words[2];
        words[0].take(a, b, k);
        words[1].take(a, b, k + 8);
        Rounding::multiply_add(total, words);
      }
    }

    CUDAL1_INLINE void store(float* to) const { total.store(to); }
  };
};

//! Which instruction multiplies elements of a type; <cudal1/gemm_half.cuh> and <cudal1/gemm_bfloat16.cuh> know the two.
template <class T>
struct HalfProduct;

//! fp16 or bf16 operands on tensor cores, fp32 sums.
struct HalfInputs {
  static constexpr bool wants_lines = false, ahead = false;

  template <class T, class Tile, class A, class B>
  struct Sums {
    static constexpr int down = Tile::warp_rows / 16, across = Tile::warp_columns / 8;
    WarpSums<Tile, true, true> total;

    CUDAL1_INLINE Sums() { total.clear(); }

    CUDAL1_INLINE void add(const T* a, const T* b) {
#pragma unroll
      for (int k = 0; k < Tile::depth; k += 16) add_step(a, b, k);
    }

    CUDAL1_INLINE void store(float* to) const { total.store(to); }

   private:
    CUDAL1_INLINE void add_step(const T* a, const T* b, int k) {
      unsigned a_words[down][4], b_words[across][2];
      load_a(a_words, a, k);
      load_b(b_words, b, k);
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int j = 0; j < across; ++j) HalfProduct<T>::multiply_add(total.sum[i][j], a_words[i], b_words[j]);
    }

    static CUDAL1_INLINE void load_a(unsigned (&words)[down][4], const T* a, int k) {
#pragma unroll
      for (int i = 0; i < down; ++i) {
        const int row = Tile::first_row() + 16 * i;
        if constexpr (A::along_depth)
          load_matrices(words[i], a + A::place(row + lane() % 16, k + lane() / 16 * 8));
        else
          load_matrices_transposed(words[i], a + A::place(row + lane() / 8 % 2 * 8, k + lane() % 8 + lane() / 16 * 8));
      }
    }

    static CUDAL1_INLINE void load_b(unsigned (&words)[across][2], const T* b, int k) {
#pragma unroll
      for (int j = 0; j < across; j += 2) {
        const int column = Tile::first_column() + 8 * j;
        unsigned both[4];
        if constexpr (B::along_depth)
          load_matrices(both, b + B::place(column + lane() % 8 + lane() / 16 * 8, k + lane() / 8 % 2 * 8));
        else
          load_matrices_transposed(both, b + B::place(column + lane() / 16 * 8, k + lane() % 16));
#pragma unroll
        for (int n = 0; n < 4; ++n) words[j + n / 2][n % 2] = both[n];
      }
    }
  };
};

//! fp32 without tensor cores: a thread has up to 8x8 sums, in groups of 4x4.
struct Fp32 {
  static constexpr bool wants_lines = true;  // lines side by side in shared memory, so that a thread reads 4 at once
  static constexpr bool ahead = false;

  template <class T, class Tile, class A, class B>
  struct Sums {
    static constexpr int of_thread = Tile::rows * Tile::columns / Tile::threads;
    static constexpr int down = of_thread >= 32 ? 8 : 4, across = of_thread / down;
    static constexpr int rows_at_once = 4, columns_at_once = across < 4 ? across : 4;
    static constexpr int threads_across = Tile::columns / across;
    float sum[down][across];

    CUDAL1_INLINE Sums() {
#pragma unroll
      for (int i = 0; i < down * across; ++i) sum[i / across][i % across] = 0.0f;
    }

    CUDAL1_INLINE void add(const float* a, const float* b) {
#pragma unroll
      for (int k = 0; k < Tile::depth; ++k) {
        float left[down], right[across];
#pragma unroll
        for (int i = 0; i < down; i += rows_at_once) take<rows_at_once>(left + i, a + A::place(row(i), k));
#pragma unroll
        for (int j = 0; j < across; j += columns_at_once) take<columns_at_once>(right + j, b + B::place(column(j), k));
#pragma unroll
        for (int i = 0; i < down; ++i)
#pragma unroll
          for (int j = 0; j < across; ++j) sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
      }
    }

    CUDAL1_INLINE void store(float* to) const {
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int j = 0; j < across; j += columns_at_once) {
          Vector<float, columns_at_once> part;
#pragma unroll
          for (int n = 0; n < columns_at_once; ++n) part[n] = sum[i][j + n];
          cudal1::store(to + row(i) * Tile::sums_stride + column(j), part);
        }
    }

   private:
    template <int count>
    static CUDAL1_INLINE void take(float* to, const float* from) {
      const auto vector = load<count>(from);
#pragma unroll
      for (int i = 0; i < count; ++i) to[i] = vector[i];
    }
    static CUDAL1_INLINE int row(int index) {
      return index / rows_at_once * (Tile::rows / (down / rows_at_once)) +
             static_cast<int>(threadIdx.x) / threads_across * rows_at_once + index % rows_at_once;
    }
    static CUDAL1_INLINE int column(int index) {
      return index / columns_at_once * (Tile::columns / (across / columns_at_once)) +
             static_cast<int>(threadIdx.x) % threads_across * columns_at_once + index % columns_at_once;
    }
  };
};

}  // namespace cudal1
