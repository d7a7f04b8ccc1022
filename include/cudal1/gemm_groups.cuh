// Products of fp32 operands by instructions of four warps (wgmma, on GPUs of compute capability 9.0): the arithmetic
// `Tf32x3Groups` for <cudal1/gemm.cuh>. Elsewhere it is what `Tf32x3By<8, false>` is.
//
//   using Tile = cudal1::ProductTile<128, 128, 32, 2, 4, 3>;  // no other tile; 2 or 3 stages
//   using Product = cudal1::TiledProduct<Tile, cudal1::Tf32x3Groups, X, W>;
//
// Two groups of four warps have 64 rows each, and all columns. Tensor cores read the right operand from shared memory:
// all threads split a tile of it into its TF32 parts there while the tile before is multiplied. The left operand is
// split in registers.
#pragma once

#include <cudal1/gemm.cuh>

namespace cudal1 {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

//! Registers are as those before left them.
CUDAL1_INLINE void begin_group_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
CUDAL1_INLINE void close_group_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
//! All that were closed are done; their registers can be used again.
CUDAL1_INLINE void wait_for_group_products() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
//! Tensor cores see what this thread wrote to shared memory, after a barrier also for others.
CUDAL1_INLINE void show_to_tensor_cores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

//! 64x8 by 8x128: `a` as mma has it, 16 rows a warp; the columns of `b` 128 bytes apart, in order of swizzled_place.
//! The sums of 8 columns after those of 8 columns, each as mma has them. Runs on until wait_for_group_products.
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

//! Where 4 elements of a column start, in floats: 32 elements a column, whose groups of 4 change places from column to
//! column, so that 8 columns lie in different banks. The tile starts at a multiple of 1024 bytes.
CUDAL1_INLINE int swizzled_place(int column, int k) { return 32 * column + ((k / 4) ^ (column % 8)) * 4; }

//! What says that to the instruction: the start (in 16 bytes), 1024 bytes from 8 columns to the next 8, swizzled.
CUDAL1_INLINE unsigned long long swizzled_operand(unsigned address) {
  return static_cast<unsigned long long>((address & 0x3ffffu) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

//! What the compiler knows of these registers ends here.
CUDAL1_INLINE void keep_registers(float (&sums)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

#endif

//! fp32 operands as sums of two TF32 numbers, multiplied by groups of four warps.
struct Tf32x3Groups {
  static constexpr bool wants_lines = false, ahead = false;
};

template <class Tile, class A, class B>
struct TiledProduct<Tile, Tf32x3Groups, A, B> {
  static_assert(Tile::rows == 128 && Tile::columns == 128 && Tile::depth == 32 && Tile::threads == 256,
                "groups of warps have tiles of 128x128x32");
  using SharedA = SharedOperand<float, 128, 32, A::along_depth>;
  using SharedB = SharedOperand<float, 128, 32, B::along_depth>;
  static constexpr int part_elements = 128 * 32, buffers = 3;
  static constexpr int stage_elements = SharedA::elements + SharedB::elements;
  static constexpr int shared_bytes = 1024 + 4 * (2 * buffers * part_elements + Tile::stages * stage_elements);

  static CUDAL1_INLINE const float* run(void* shared, const A& a, const B& b, int row, int column, int begin, int end) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    float total[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) total[i] = 0.0f;
    if (end > begin) add_tiles(total, shared, a, b, row, column, begin, end);
    __syncthreads();
    store_sums(total, static_cast<float*>(shared));
    __syncthreads();
    return static_cast<const float*>(shared);
#else
    return TiledProduct<Tile, Tf32x3By<8, false>, A, B>::run(shared, a, b, row, column, begin, end);
#endif
  }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
 private:
  using LeftParts = Tf32Parts<4>[4];  // of 32 elements of the depth

  //! The parts of the right operand's tiles take turns in three buffers: while one is multiplied, the next is made, and
  //! the one before may still be read by the other group.
  static CUDAL1_INLINE void add_tiles(float (&total)[64], void* shared, const A& a, const B& b, int row, int column,
                                      int begin, int end) {
    float* parts = reinterpret_cast<float*>((reinterpret_cast<unsigned long long>(shared) + 1023) / 1024 * 1024);
    float* stages = parts + 2 * buffers * part_elements;
    const int tiles = (end - begin + 31) / 32;
    const auto bring = [&](int tile) {
      if (tile < tiles) {
        float* stage = stages + tile % Tile::stages * stage_elements;
        a.template bring<SharedA, Tile::threads>(stage, row, begin + tile * 32, end);
        b.template bring<SharedB, Tile::threads>(stage + SharedA::elements, column, begin + tile * 32, end);
      }
      close_copies();
    };
#pragma unroll
    for (int tile = 0; tile < Tile::stages; ++tile) bring(tile);
    wait_for_copies<Tile::stages - 2>();  // two tiles
    __syncthreads();
    LeftParts left[2];
    split_right(parts, stages + SharedA::elements);
    split_left(left[0], stages);
    show_to_tensor_cores();
    __syncthreads();
    float sums[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i] = 0.0f;
    int buffer = 0;
#pragma unroll 1
    for (int first = 0; first < tiles; first += 2) {
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const int tile = first + odd, next = buffer == buffers - 1 ? 0 : buffer + 1;
        if (odd == 1 && tile == tiles) break;
        multiply(sums, left[odd], shared_address(parts + buffer * 2 * part_elements));
        bring(tile + Tile::stages);  // where this tile was: everyone has split it
        if (tile + 1 < tiles) {
          const float* stage = stages + (tile + 1) % Tile::stages * stage_elements;
          split_right(parts + next * 2 * part_elements, stage + SharedA::elements);
          split_left(left[1 - odd], stage);
        }
        show_to_tensor_cores();
        wait_for_copies<Tile::stages - 2>();  // the tile after the next
        __syncthreads();
        wait_for_group_products();
        keep_registers(sums);
#pragma unroll
        for (int i = 0; i < 64; ++i) total[i] += sums[i];
        buffer = next;
      }
    }
    wait_for_copies<0>();
  }

  static CUDAL1_INLINE void multiply(float (&sums)[64], const LeftParts& left, unsigned right) {
    begin_group_products();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const unsigned long long big = swizzled_operand(right + 32 * step);
      const unsigned long long small = swizzled_operand(right + 4 * part_elements + 32 * step);
      multiply_add_group_tf32(sums, left[step].small, big, step > 0);
      multiply_add_group_tf32(sums, left[step].big, small, true);
      multiply_add_group_tf32(sums, left[step].big, big, true);
    }
    close_group_products();
  }

  //! Neighbouring threads have neighbouring columns.
  static CUDAL1_INLINE void split_right(float* parts, const float* tile) {
#pragma unroll
    for (int i = 0; i < 128 * 8 / Tile::threads; ++i) {
      const int item = threadIdx.x + i * Tile::threads, column = item % 128, k = item / 128 * 4;
      unsigned words[4];
      load_right(words, tile, column, k);
      const Tf32Parts<4> split(words);
      Vector<float, 4> big, small;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        big[e] = __uint_as_float(split.big[e]);
        small[e] = __uint_as_float(split.small[e]);
      }
      cudal1::store(parts + swizzled_place(column, k), big);
      cudal1::store(parts + part_elements + swizzled_place(column, k), small);
    }
  }

  static CUDAL1_INLINE void load_right(unsigned (&words)[4], const float* tile, int column, int k) {
    Vector<float, 4> elements;
    if constexpr (B::along_depth) elements = load<4>(tile + SharedB::place(column, k));
#pragma unroll
    for (int e = 0; e < 4; ++e)
      words[e] = __float_as_uint(B::along_depth ? elements[e] : tile[SharedB::place(column, k + e)]);
  }

  static CUDAL1_INLINE void split_left(LeftParts& parts, const float* tile) {
    const int row = threadIdx.x / 32 * 16;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      unsigned words[4];
      if constexpr (A::along_depth) {
        load_matrices(words, tile + SharedA::place(row + lane() % 16, 8 * step + lane() / 16 * 4));
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          words[e] =
              __float_as_uint(tile[SharedA::place(row + lane() / 4 + e % 2 * 8, 8 * step + lane() % 4 + e / 2 * 4)]);
      }
      parts[step] = Tf32Parts<4>(words);
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
