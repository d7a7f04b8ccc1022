// y = max(0, x w^T + bias) in bfloat16, w by rows as a linear layer stores it: tensor cores from global memory or tiles.
//! define WARPS_M=1 WARPS_N=1 TILES_M=1 TILES_N=1 STAGED=0 PADDING=8 DEPTH=32
//! variant tile_per_warp: WARPS_N=4
//! variant two_by_two_per_warp: WARPS_N=2 WARPS_M=2 TILES_M=2 TILES_N=2
//! variant staged_64x64: STAGED=1 WARPS_M=2 WARPS_N=2 TILES_M=2 TILES_N=2
//! variant staged_64x64_conflicts: STAGED=1 WARPS_M=2 WARPS_N=2 TILES_M=2 TILES_N=2 PADDING=0
//! variant staged_128x128: STAGED=1 WARPS_M=2 WARPS_N=4 TILES_M=4 TILES_N=2
//! variant staged_64x64_deep: STAGED=1 WARPS_M=2 WARPS_N=2 TILES_M=2 TILES_N=2 DEPTH=64
//! let m = 2048 small 128
//! let n = 1024 small 128
//! let k = 1024 small 128
//! input x bf16[m*k] random
//! input w bf16[n*k] random
//! input bias f32[n] random
//! buffer y bf16[m*n] poison
//! launch linear grid=(n/(16*WARPS_N*TILES_N),m/(16*WARPS_M*TILES_M)) block=(32*WARPS_M*WARPS_N) args=(x, w, bias, y, i32:n, i32:k)
//! reference linear_relu
//! check y relative 8e-3
#include <mma.h>

using namespace nvcuda;
using Bf16 = __nv_bfloat16;

constexpr int threads = 32 * WARPS_M * WARPS_N, rows = 16 * WARPS_M * TILES_M, columns = 16 * WARPS_N * TILES_N;
constexpr int stride = DEPTH + PADDING;

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, Bf16, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, Bf16, wmma::col_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__device__ void add_products(Sum (&sums)[TILES_M][TILES_N], const Bf16* left, const Bf16* right, int apart) {
  Left a[TILES_M];
  Right b[TILES_N];
#pragma unroll
  for (int i = 0; i < TILES_M; ++i) wmma::load_matrix_sync(a[i], left + i * 16 * apart, apart);
#pragma unroll
  for (int j = 0; j < TILES_N; ++j) wmma::load_matrix_sync(b[j], right + j * 16 * apart, apart);
#pragma unroll
  for (int i = 0; i < TILES_M; ++i)
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
}

// `count` rows of DEPTH numbers, eight at a time.
__device__ void fetch(Bf16* to, const Bf16* from, int count, int k) {
  for (int i = threadIdx.x * 8; i < count * DEPTH; i += threads * 8)
    *reinterpret_cast<uint4*>(to + i / DEPTH * stride + i % DEPTH) =
        __ldg(reinterpret_cast<const uint4*>(from + i / DEPTH * k + i % DEPTH));
}

__global__ void __launch_bounds__(threads) linear(const Bf16* x, const Bf16* w, const float* bias, Bf16* y, int n,
                                                  int k) {
  __shared__ __align__(16) Bf16 left[STAGED ? rows * stride : 8], right[STAGED ? columns * stride : 8];
  __shared__ __align__(16) float out[WARPS_M * WARPS_N][256];
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * TILES_M * 16, column = warp % WARPS_N * TILES_N * 16;
  x += blockIdx.y * rows * k;
  w += blockIdx.x * columns * k;
  Sum sums[TILES_M][TILES_N];
#pragma unroll
  for (int i = 0; i < TILES_M; ++i)
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
  for (int at = 0; at < k; at += DEPTH) {
    if (STAGED) {
      __syncthreads();
      fetch(left, x + at, rows, k);
      fetch(right, w + at, columns, k);
      __syncthreads();
    }
#pragma unroll
    for (int step = 0; step < DEPTH; step += 16)
      if (STAGED)
        add_products(sums, left + row * stride + step, right + column * stride + step, stride);
      else
        add_products(sums, x + row * k + at + step, w + column * k + at + step, k);
  }
#pragma unroll
  for (int i = 0; i < TILES_M; ++i)
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) {
      wmma::store_matrix_sync(out[warp], sums[i][j], 16, wmma::mem_row_major);
      __syncwarp();
      const int first = blockIdx.x * columns + column + j * 16;
      for (int at = threadIdx.x % 32; at < 256; at += 32)
        y[(blockIdx.y * rows + row + i * 16 + at / 16) * n + first + at % 16] =
            Bf16(fmaxf(0.0f, out[warp][at] + bias[first + at % 16]));
      __syncwarp();
    }
}
