// Products of fp32 operands by instructions of four warps (wgmma, on GPUs of compute capability 9.0): the arithmetic
// `Tf32x3Groups` for <cudal1/gemm.cuh>. On other GPUs it is what `Tf32x3` is.
//
//   using Tile = cudal1::ProductTile<128, 128, 32, 2, 4, 2>;  // no other tile; stages count on other GPUs alone
//   using Product = cudal1::TiledProduct<Tile, cudal1::Tf32x3Groups, X, W>;
//
// Two groups of four warps have 64 rows each, and all columns. Both operands come from global memory to registers two
// tiles ahead. Tensor cores read the right one from shared memory: all threads split a tile of it into its TF32 parts
// there while the tile before is multiplied. The left one is split in registers and stays there.
#pragma once

#include <cudal1/gemm.cuh>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__clang__)
#define CUDAL1_HAS_GROUPS 1
#else
#define CUDAL1_HAS_GROUPS 0
#endif

namespace cudal1 {

#if CUDAL1_HAS_GROUPS

//! Where 4 elements of a column start, in floats: 32 elements a column, whose groups of 4 change places from column to
//! column, so that 8 columns lie in different banks. The tile starts at a multiple of 1024 bytes.
CUDAL1_INLINE int swizzled_place(int column, int k) { return 32 * column + ((k / 4) ^ (column % 8)) * 4; }

//! What says that to the instruction: the start (in 16 bytes), 1024 bytes from 8 columns to the next 8, swizzled.
CUDAL1_INLINE unsigned long long swizzled_operand(unsigned address) {
  return static_cast<unsigned long long>((address & 0x3ffffu) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

//! Of 32 elements of the depth, 8 for each product.
using LeftParts = Tf32Parts<4>[4];
//! The small parts of the right operand's tile lie that many floats behind the big ones.
constexpr int right_part_elements = 128 * 32;

#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

//! Tensor cores see what this thread wrote to shared memory, after a barrier also for others.
CUDAL1_INLINE void show_to_tensor_cores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

//! 64x8 by 8x128: `a` as mma has it, 16 rows a warp; the columns of `b` 128 bytes apart, in order of swizzled_place.
//! The sums of 8 columns after those of 8 columns, each as mma has them. Runs on until all are waited for.
CUDAL1_INLINE void multiply_add_group_tf32(float (&sums)[64], const unsigned (&a)[4], unsigned long long b, bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, {%64, %65, %66, %67}, %68, adds, 1, 1;\n}\n"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]),
        "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]), "+f"(sums[12]), "+f"(sums[13]),
        "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]),
        "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]), "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]),
        "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31]), "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]),
        "+f"(sums[35]), "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]),
        "+f"(sums[42]), "+f"(sums[43]), "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]), "+f"(sums[48]),
        "+f"(sums[49]), "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]), "+f"(sums[54]), "+f"(sums[55]),
        "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]), "+f"(sums[60]), "+f"(sums[61]), "+f"(sums[62]),
        "+f"(sums[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(adds)));
}

//! A tile's products, which run beside what the threads do between `begin` and `end`.
struct GroupProducts {
  //! `right`: the tile's big parts, as swizzled_place has them. The sums, or nothing, are added to.
  CUDAL1_INLINE void begin(float (&sums)[64], const LeftParts& left, unsigned right, bool adds) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");  // registers are as those before left them
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const unsigned long long big = swizzled_operand(right + 32 * step);
      const unsigned long long small = swizzled_operand(right + 4 * right_part_elements + 32 * step);
      multiply_add_group_tf32(sums, left[step].small, big, step > 0 || adds);
      multiply_add_group_tf32(sums, left[step].big, small, true);
      multiply_add_group_tf32(sums, left[step].big, big, true);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }

  //! What the compiler knew of the sums ends here.
  CUDAL1_INLINE void end(float (&sums)[64]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(sums[i])::"memory");
  }
};

#elif defined(__clang__)

// The virtual GPU has no such instructions: each warp multiplies its rows with its own, out of the same memory, as late
// as the others may.

CUDAL1_INLINE void show_to_tensor_cores() {}

//! 16 columns of what the instruction reads where swizzled_operand says, for two products of a warp.
CUDAL1_INLINE void load_group_operand(unsigned (&words)[4], unsigned long long operand, int first_column) {
  const unsigned start = static_cast<unsigned>(operand & 0x3fff) << 4;
  const unsigned eight_columns = static_cast<unsigned>(operand >> 32 & 0x3fff) << 4;
  const unsigned column = first_column + lane() % 8 + lane() / 16 * 8;
  const unsigned address = start + column / 8 * eight_columns + column % 8 * 128 + lane() / 8 % 2 * 16;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address ^ (address >> 7 & 7) << 4)
               : "memory");
}

struct GroupProducts {
  LeftParts left;
  unsigned right;
  bool adds;

  CUDAL1_INLINE void begin(const float (&)[64], const LeftParts& left_parts, unsigned right_parts, bool adds_to_sums) {
#pragma unroll
    for (int step = 0; step < 4; ++step) left[step] = left_parts[step];
    right = right_parts;
    adds = adds_to_sums;
  }

  CUDAL1_INLINE void end(float (&sums)[64]) const {
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i] = adds ? sums[i] : 0.0f;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      unsigned big[8][4], small[8][4];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        load_group_operand(big[i], swizzled_operand(right + 32 * step), 16 * i);
        load_group_operand(small[i], swizzled_operand(right + 4 * right_part_elements + 32 * step), 16 * i);
      }
      add(sums, left[step].small, big);
      add(sums, left[step].big, small);
      add(sums, left[step].big, big);
    }
  }

 private:
  static CUDAL1_INLINE void add(float (&sums)[64], const unsigned (&a)[4], const unsigned (&b)[8][4]) {
#pragma unroll
    for (int i = 0; i < 64; i += 4) {
      const unsigned two[2] = {b[i / 8][i / 4 % 2 * 2], b[i / 8][i / 4 % 2 * 2 + 1]};
      float four[4] = {sums[i], sums[i + 1], sums[i + 2], sums[i + 3]};
      multiply_add_tf32(four, a, two);
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i + e] = four[e];
    }
  }
};

#endif

//! fp32 operands as sums of two TF32 numbers, multiplied by groups of four warps. Tensor cores cut off what they add,
//! so they add no more than `in_a_row` (32 or 64) elements' products.
template <int in_a_row>
struct Tf32x3GroupsBy {
  static_assert(in_a_row == 32 || in_a_row == 64, "32 or 64 products in a row");
  static constexpr bool wants_lines = false, ahead = false;
};

//! 64 in a row, which adds least apart. For sums of less than some 256 products 32 in a row are more exact.
using Tf32x3Groups = Tf32x3GroupsBy<64>;

template <class Tile, int in_a_row, class A, class B>
struct TiledProduct<Tile, Tf32x3GroupsBy<in_a_row>, A, B> {
  static_assert(Tile::rows == 128 && Tile::columns == 128 && Tile::depth == 32 && Tile::threads == 256,
                "groups of warps have tiles of 128x128x32");
  using OfWarps = TiledProduct<Tile, Tf32x3, A, B>;  // for other GPUs
  static constexpr int buffers = 3, buffer_elements = 2 * 128 * 32;
  static constexpr int buffer_bytes = 1024 + 4 * buffers * buffer_elements;
  static constexpr int shared_bytes = buffer_bytes > OfWarps::shared_bytes ? buffer_bytes : OfWarps::shared_bytes;

  static CUDAL1_INLINE const float* run(void* shared, const A& a, const B& b, int row, int column, int begin, int end) {
#if CUDAL1_HAS_GROUPS
    float total[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) total[i] = 0.0f;
    if (end > begin) add_tiles(total, shared, {a, b, row, column}, begin, end);
    __syncthreads();
    store_sums(total, static_cast<float*>(shared));
    __syncthreads();
    return static_cast<const float*>(shared);
#else
    return OfWarps::run(shared, a, b, row, column, begin, end);
#endif
  }

#if CUDAL1_HAS_GROUPS
 private:
  //! What a thread brings of a tile of the left operand: of two rows, 8 apart, elements 4t … 4t + 3 and 16 more than
  //! these, where t = lane % 4. The products take one of each four at a time, so that the depth goes in another order
  //! than in memory.
  using LeftWords = float[2][2][4];
  //! And of the right one: half a column.
  using RightWords = float[16];

  struct Operands {
    const A& a;
    const B& b;
    int row, column;

    template <bool whole>
    CUDAL1_INLINE void take_left(LeftWords& words, int depth, int end) const {
      const int line = row + threadIdx.x / 32 * 16 + lane() / 4, k = depth + lane() % 4 * 4;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        a.template take<4, 128, whole>(words[i / 2][i % 2], line + i % 2 * 8, k + i / 2 * 16, end);
    }
    template <bool whole>
    CUDAL1_INLINE void take_right(RightWords& words, int depth, int end) const {
      b.template take<16, 128, whole>(words, column + threadIdx.x % 128, depth + threadIdx.x / 128 * 16, end);
    }
  };

  //! The last tile, which may have less depth than others, comes first. The parts of the right operand's tiles take
  //! turns in three buffers: while one is multiplied, the next is made, and the one before may still be read by the
  //! other group.
  static CUDAL1_INLINE void add_tiles(float (&total)[64], void* shared, const Operands& operands, int begin, int end) {
    float* parts = reinterpret_cast<float*>((reinterpret_cast<unsigned long long>(shared) + 1023) / 1024 * 1024);
    const int tiles = (end - begin + 31) / 32, last = begin + (tiles - 1) * 32;
    LeftWords left_words;
    RightWords right_words;
    LeftParts left;
    operands.template take_left<false>(left_words, last, end);
    operands.template take_right<false>(right_words, last, end);
    split_right(parts, right_words);
    split_left(left, left_words);
    if (tiles > 1) {
      operands.template take_left<true>(left_words, begin, end);
      operands.template take_right<true>(right_words, begin, end);
    }
    show_to_tensor_cores();
    __syncthreads();
    constexpr int rounds = in_a_row / 32;
    GroupProducts products;
    float sums[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i] = 0.0f;
    int buffer = 0;
#pragma unroll 1
    for (int tile = 0; tile + 1 < tiles; ++tile) {
      products.begin(sums, left, shared_address(parts + buffer * buffer_elements), tile % rounds != 0);
      buffer = buffer == buffers - 1 ? 0 : buffer + 1;
      split_right(parts + buffer * buffer_elements, right_words);
      // the tile after the next; at the end one that nobody needs
      const int ahead = begin + (tile + 2 < tiles ? tile + 1 : tile) * 32;
      operands.template take_right<true>(right_words, ahead, end);
      show_to_tensor_cores();
      __syncthreads();
      products.end(sums);
      split_left(left, left_words);
      operands.template take_left<true>(left_words, ahead, end);
      if (tile % rounds == rounds - 1) add(total, sums);
    }
    products.begin(sums, left, shared_address(parts + buffer * buffer_elements), (tiles - 1) % rounds != 0);
    products.end(sums);
    add(total, sums);
  }

  static CUDAL1_INLINE void add(float (&total)[64], const float (&sums)[64]) {
#pragma unroll
    for (int i = 0; i < 64; ++i) total[i] += sums[i];
  }

  //! Of 16 elements, every fourth together: the order of the left operand's.
  static CUDAL1_INLINE void split_right(float* parts, const RightWords& words) {
    const int column = threadIdx.x % 128, half = threadIdx.x / 128;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      unsigned four[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) four[t] = __float_as_uint(words[4 * t + step]);
      const Tf32Parts<4> split(four);
      Vector<float, 4> big, small;
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        big[t] = __uint_as_float(split.big[t]);
        small[t] = __uint_as_float(split.small[t]);
      }
      float* to = parts + swizzled_place(column, 8 * step + 4 * half);
      cudal1::store(to, big);
      cudal1::store(to + right_part_elements, small);
    }
  }

  static CUDAL1_INLINE void split_left(LeftParts& parts, const LeftWords& words) {
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      unsigned four[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = __float_as_uint(words[i / 2][i % 2][step]);
      parts[step] = Tf32Parts<4>(four);
    }
  }

  static CUDAL1_INLINE void store_sums(const float (&total)[64], float* to) {
#pragma unroll
    for (int i = 0; i < 64; i += 2) {
      const Vector<float, 2> two{{ total[i], total[i + 1] }};
      const int row = threadIdx.x / 32 * 16 + lane() / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane() % 4 * 2;
      cudal1::store(to + row * Tile::sums_stride + column, two);
    }
  }
#endif
};

}  // namespace cudal1
