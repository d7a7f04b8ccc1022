// C = A B in half precision with sums in float; each warp has TILES_M x TILES_N tiles of 16 x 16.
//! define WARPS_M=2 WARPS_N=2 TILES_M=1 TILES_N=1 STAGED=0
//! variant one_warp: WARPS_M=1 WARPS_N=1
//! variant four_warps: WARPS_M=2 WARPS_N=2
//! variant tiles_2x2: TILES_M=2 TILES_N=2
//! variant tiles_4x2: TILES_M=4 TILES_N=2
//! variant staged_1x1: STAGED=1
//! variant staged_2x2: TILES_M=2 TILES_N=2 STAGED=1
//! variant staged_4x2: TILES_M=4 TILES_N=2 STAGED=1
//! let n = 1024 small 128
//! let rows = WARPS_M*TILES_M*16
//! let columns = WARPS_N*TILES_N*16
//! input a f16[n*n] between -1 1
//! input b f16[n*n] between -1 1
//! buffer c f32[n*n] poison
//! launch multiply grid=(n/columns,n/rows) block=(32*WARPS_M*WARPS_N) args=(a, b, c, i32:n)
//! reference matmul
//! check c relative 1e-4
#include <mma.h>

using namespace nvcuda;
constexpr int rows = WARPS_M * TILES_M * 16, columns = WARPS_N * TILES_N * 16, threads = 32 * WARPS_M * WARPS_N;

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// 8 elements at a time.
template <int tile_rows, int tile_columns>
__device__ void stage(__half* tile, const __half* from, int n) {
  for (int i = threadIdx.x * 8; i < tile_rows * tile_columns; i += threads * 8)
    *reinterpret_cast<uint4*>(tile + i) =
        *reinterpret_cast<const uint4*>(from + i / tile_columns * n + i % tile_columns);
}

__device__ void multiply_step(Sum (*sums)[TILES_N], const __half* a, int a_stride, const __half* b, int b_stride) {
  Left left[TILES_M];
  Right right[TILES_N];
#pragma unroll
  for (int i = 0; i < TILES_M; ++i) wmma::load_matrix_sync(left[i], a + i * 16 * a_stride, a_stride);
#pragma unroll
  for (int j = 0; j < TILES_N; ++j) wmma::load_matrix_sync(right[j], b + j * 16, b_stride);
#pragma unroll
  for (int i = 0; i < TILES_M; ++i)
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
}

__global__ void __launch_bounds__(threads) multiply(const __half* a, const __half* b, float* c, int n) {
  __shared__ __align__(16) __half left[STAGED ? rows * 16 : 8], right[STAGED ? columns * 16 : 8];
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * TILES_M * 16, column = warp % WARPS_N * TILES_N * 16;
  const __half* a_block = a + blockIdx.y * rows * n;
  const __half* b_block = b + blockIdx.x * columns;
  Sum sums[TILES_M][TILES_N];
#pragma unroll
  for (int i = 0; i < TILES_M * TILES_N; ++i) wmma::fill_fragment(sums[i / TILES_N][i % TILES_N], 0.0f);
  for (int k = 0; k < n; k += 16) {
    if (STAGED) {
      stage<rows, 16>(left, a_block + k, n);
      stage<16, columns>(right, b_block + k * n, n);
      __syncthreads();
      multiply_step(sums, left + row * 16, 16, right + column, columns);
      __syncthreads();
    } else {
      multiply_step(sums, a_block + row * n + k, n, b_block + k * n + column, n);
    }
  }
#pragma unroll
  for (int i = 0; i < TILES_M; ++i)
#pragma unroll
    for (int j = 0; j < TILES_N; ++j)
      wmma::store_matrix_sync(c + (blockIdx.y * rows + row + i * 16) * n + blockIdx.x * columns + column + j * 16,
                              sums[i][j], n, wmma::mem_row_major);
}
