// Matrix products, tile by tile: a block brings tiles of both operands to shared memory, some stages ahead, its warps
// multiply them, and the block's sums end up in shared memory, where each thread takes those it wants to store.
//
//   // y = relu(x w^T), x [1000, 512] and w [300, 512] row by row, fp32; grid = 8 * 5, block = 128 threads
//   using Tile = cudal1::ProductTile<128, 64, 32, 2, 2, 3>;  // 128x64 sums of 2x2 warps, 32 deep, 3 stages
//   using X = cudal1::StridedOperand<float, 1000, 512, true, 512, 4>;
//   using W = cudal1::StridedOperand<float, 300, 512, true, 512, 4>;
//   using Product = cudal1::TiledProduct<Tile, cudal1::Tf32x3, X, W>;
//   __global__ void __launch_bounds__(Tile::threads) product(const float* x, const float* w, float* y) {
//     extern __shared__ __align__(16) unsigned char memory[];  // Product::shared_bytes of it
//     const auto place = cudal1::tile_place<8, 5, 4>(blockIdx.x);
//     const int row = 128 * place.row, column = 64 * place.column;
//     const float* sums = Product::run(memory, X{x}, W{w}, row, column, 0, 512);
//     for (int i = threadIdx.x; i < 128 * 64; i += Tile::threads)
//       if (row + i / 64 < 1000 && column + i % 64 < 300)
//         y[(row + i / 64) * 300 + column + i % 64] = fmaxf(sums[i / 64 * Tile::sums_stride + i % 64], 0.0f);
//   }
//
// Arithmetic: `Fp32` (8x8 sums a thread), `Tf32x3` (fp32 accuracy on tensor cores: three products of TF32 parts; with
// fewer registers or loads that run ahead `Tf32x3By<8, true>`), `HalfInputs` (fp16 or bf16 operands, fp32 sums), and
// with one product of rounded fp32 operands `RoundedInputs<ToTf32>` and `RoundedInputs<ToBf16>`. Sizes need not be
// multiples of anything; what is missing counts as 0. An infinite element of an fp32 operand makes NaN of its sums with
// Tf32x3, since its parts are inf and inf - inf.
#pragma once

#include <cudal1/gemm_math.cuh>

namespace cudal1 {

//! Which tile of a product a block computes. Blocks that run at the same time should share tiles of the operands: they
//! walk down `group` rows of tiles before they go on to the next column.
struct TilePlace {
  unsigned row, column, batch;
};
template <unsigned tiles_down, unsigned tiles_across, unsigned group>
CUDAL1_INLINE TilePlace tile_place(unsigned block) {
  const unsigned batch = block / (tiles_down * tiles_across), tile = block % (tiles_down * tiles_across);
  const unsigned first = tile / (group * tiles_across) * group;  // row of the group of rows
  const unsigned height = tiles_down - first < group ? tiles_down - first : group;
  const unsigned inside = tile % (group * tiles_across);
  return {first + inside % height, inside / height, batch};
}

//! `lines` lines (rows of the left operand, columns of the right one) with `depth` elements each, in global memory.
//! Along depth: a line's elements lie side by side, the lines `stride` elements apart; else neighbouring lines lie side
//! by side, and `stride` leads to the next element of each. Every `vector` elements start at a multiple of their bytes.
template <class T, long long lines, long long depth, bool along_depth_, long long stride, int vector>
struct StridedOperand {
  using Element = T;
  static constexpr bool along_depth = along_depth_;
  const T* base;

  //! Brings a tile to shared memory; from `end` on depth counts as 0.
  template <class Shared, int threads>
  CUDAL1_INLINE void bring(T* shared, int first_line, int first_depth, int end) const {
    constexpr int run = (along_depth ? Shared::depth : Shared::lines) / vector;  // accesses side by side
    constexpr int accesses = Shared::lines * Shared::depth / vector;
    const long long start = along_depth ? first_line * stride + first_depth : first_depth * stride + first_line;
#pragma unroll
    for (int i = 0; i < (accesses + threads - 1) / threads; ++i) {
      int far = threadIdx.x / run + i * (threads / run), near = threadIdx.x % run * vector;
      if constexpr (threads % run != 0) {
        far = (threadIdx.x + i * threads) / run;
        near = (threadIdx.x + i * threads) % run * vector;
      }
      if (accesses % threads != 0 && static_cast<int>(threadIdx.x) + i * threads >= accesses) break;
      const int line = along_depth ? far : near, k = along_depth ? near : far;
      int present = vector;
      if constexpr (lines % Shared::lines != 0)
        present = inside(present, along_depth, static_cast<int>(lines) - first_line - line);
      if constexpr (depth % Shared::depth != 0) present = inside(present, !along_depth, end - first_depth - k);
      copy<Shared>(shared + Shared::place(line, k), base + start + (far * stride + near), present);
    }
  }

  //! `count` elements of a line to registers, those from `end` on as 0. A line beyond the last has what the last has.
  //! `whole`: none lies beyond `end`. `k` is a multiple of `vector`.
  template <int count, int tile_lines, bool whole>
  CUDAL1_INLINE void take(T* to, int line, int k, int end) const {
    if (lines % tile_lines != 0 && line >= lines) line = static_cast<int>(lines) - 1;
    const T* from = base + (along_depth ? line * stride + k : k * stride + line);
    constexpr int together = along_depth && whole ? vector : 1;
#pragma unroll
    for (int i = 0; i < count; i += together) {
      if constexpr (together > 1) {
        const auto some = load<together>(from + i);
#pragma unroll
        for (int e = 0; e < together; ++e) to[i + e] = some[e];
      } else {
        to[i] = whole || k + i < end ? from[i * (along_depth ? 1 : stride)] : T(0.0f);
      }
    }
  }

 private:
  static CUDAL1_INLINE int inside(int present, bool across, int left) {
    if (left <= 0) return 0;
    return across || left >= present ? present : left;
  }

  template <class Shared>
  CUDAL1_INLINE void copy(T* to, const T* from, int present) const {
    constexpr int bytes = vector * sizeof(T);
    constexpr bool whole = lines % Shared::lines == 0 && depth % Shared::depth == 0;
    if constexpr (bytes < 4) {
      *to = present > 0 ? *from : T(0.0f);
    } else if constexpr (Shared::along_depth != along_depth && vector > 1) {
      static_assert(vector == 1, "an operand that is turned on its way moves element by element");
    } else if constexpr (whole) {
      copy_async<bytes>(to, from);
    } else {
      copy_async<bytes>(to, present > 0 ? from : base, present * static_cast<int>(sizeof(T)));
    }
  }
};

//! An operand whose elements are computed on their way: `element(line, k)`. Each element of a tile is asked for once.
template <class T, long long lines, long long depth, bool along_depth_, class Function>
struct ComputedOperand {
  using Element = T;
  static constexpr bool along_depth = along_depth_;
  Function element;

  template <class Shared, int threads>
  CUDAL1_INLINE void bring(T* shared, int first_line, int first_depth, int end) const {
    constexpr int run = along_depth ? Shared::depth : Shared::lines, elements = Shared::lines * Shared::depth;
#pragma unroll 8
    for (int i = threadIdx.x; i < elements; i += threads) {
      const int line = along_depth ? i / run : i % run, k = along_depth ? i % run : i / run;
      const bool is_there = (lines % Shared::lines == 0 || first_line + line < lines) && first_depth + k < end;
      shared[Shared::place(line, k)] = is_there ? element(first_line + line, first_depth + k) : T(0.0f);
    }
  }

  //! As StridedOperand has it.
  template <int count, int tile_lines, bool whole>
  CUDAL1_INLINE void take(T* to, int line, int k, int end) const {
    if (lines % tile_lines != 0 && line >= lines) line = static_cast<int>(lines) - 1;
#pragma unroll
    for (int i = 0; i < count; ++i) to[i] = whole || k + i < end ? element(line, k + i) : T(0.0f);
  }
};
template <class T, long long lines, long long depth, bool along_depth, class Function>
CUDAL1_INLINE ComputedOperand<T, lines, depth, along_depth, Function> computed_operand(Function element) {
  return {element};
}

template <class Tile, class Math, class A, class B>
struct TiledProduct {
  using T = typename A::Element;
  using SharedA = SharedOperand<T, Tile::rows, Tile::depth, A::along_depth && !Math::wants_lines>;
  using SharedB = SharedOperand<T, Tile::columns, Tile::depth, B::along_depth && !Math::wants_lines>;
  static constexpr int stage_elements = SharedA::elements + SharedB::elements;
  static constexpr int stage_bytes = Tile::stages * stage_elements * static_cast<int>(sizeof(T));
  static constexpr int sums_bytes = Tile::rows * Tile::sums_stride * static_cast<int>(sizeof(float));
  static constexpr int shared_bytes = stage_bytes > sums_bytes ? stage_bytes : sums_bytes;

  //! All threads of the block come here. Returns the sums over [begin, end), `Tile::sums_stride` apart from row to row,
  //! at the start of the shared memory.
  static CUDAL1_INLINE const float* run(void* shared, const A& a, const B& b, int row, int column, int begin, int end) {
    T* stages = static_cast<T*>(shared);
    const int tiles = (end - begin + Tile::depth - 1) / Tile::depth;
    const auto bring = [&](int tile) {
      if (tile < tiles) {
        T* stage = stages + tile % Tile::stages * stage_elements;
        a.template bring<SharedA, Tile::threads>(stage, row, begin + tile * Tile::depth, end);
        b.template bring<SharedB, Tile::threads>(stage + SharedA::elements, column, begin + tile * Tile::depth, end);
      }
      close_copies();
    };
    typename Math::template Sums<T, Tile, SharedA, SharedB> sums;
#pragma unroll
    for (int tile = 0; tile < Tile::stages - 1; ++tile) bring(tile);
    if constexpr (Math::ahead)
      add_tiles_ahead(sums, stages, tiles, bring);
    else
      add_tiles(sums, stages, tiles, bring);
    wait_for_copies<0>();
    __syncthreads();
    float* results = static_cast<float*>(shared);
    sums.store(results);
    __syncthreads();
    return results;
  }

 private:
  template <class Sums, class Bring>
  static CUDAL1_INLINE void add_tiles(Sums& sums, const T* stages, int tiles, const Bring& bring) {
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
      wait_for_copies<Tile::stages - 2>();
      __syncthreads();  // the tile is there, and the one before it has been read
      bring(tile + Tile::stages - 1);
      const T* stage = stages + tile % Tile::stages * stage_elements;
      sums.add(stage, stage + SharedA::elements);
    }
  }

  //! The same, where a tile's last products wait for the next tile and load its start. After the last tile that is the
  //! start of the last one, which nobody needs.
  template <class Sums, class Bring>
  static CUDAL1_INLINE void add_tiles_ahead(Sums& sums, const T* stages, int tiles, const Bring& bring) {
    wait_for_copies<Tile::stages - 2>();
    __syncthreads();
    if (tiles > 0) sums.start(stages, stages + SharedA::elements);
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
      bring(tile + Tile::stages - 1);
      sums.add_ahead(stages + tile % Tile::stages * stage_elements, [&] {
        wait_for_copies<Tile::stages - 2>();
        __syncthreads();
        return stages + (tile + 1 < tiles ? tile + 1 : tile) % Tile::stages * stage_elements;
      });
    }
  }
};

//! TiledProduct::run, where the types of the operands follow from them.
template <class Tile, class Math, class A, class B>
CUDAL1_INLINE const float* tiled_product(void* shared, const A& left, const B& right, int row, int column, int begin,
                                         int end) {
  return TiledProduct<Tile, Math, A, B>::run(shared, left, right, row, column, begin, end);
}

}  // namespace cudal1
