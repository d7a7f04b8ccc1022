// C = A B by mma.sync on tiles that ldmatrix reads and cp.async brings, STAGES of them on their way.
//! define WARPS_M=2 WARPS_N=2 STAGES=2 PADDING=8
//! variant one_stage: STAGES=1
//! variant two_stages: STAGES=2
//! variant three_stages: STAGES=3
//! variant three_stages_conflicts: STAGES=3 PADDING=0
//! variant two_stages_wide: STAGES=2 WARPS_M=2 WARPS_N=4
//! variant three_stages_small: STAGES=3 WARPS_M=1 WARPS_N=2
//! let n = 1024 small 128
//! let rows = WARPS_M*32
//! let columns = WARPS_N*32
//! input a f16[n*n] between -1 1
//! input b f16[n*n] between -1 1
//! buffer c f32[n*n] poison
//! launch multiply grid=(n/columns,n/rows) block=(32*WARPS_M*WARPS_N) args=(a, b, c, i32:n)
//! reference matmul
//! check c relative 1e-4
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int depth = 32, rows = WARPS_M * 32, columns = WARPS_N * 32, threads = 32 * WARPS_M * WARPS_N;

struct Tiles {
  __half left[rows][depth + PADDING];
  __half right[depth][columns + PADDING];
};

__device__ void fetch(Tiles& tiles, const __half* a, const __half* b, int n) {
  for (int i = threadIdx.x * 8; i < rows * depth; i += threads * 8)
    __pipeline_memcpy_async(&tiles.left[i / depth][i % depth], &a[i / depth * n + i % depth], 16);
  for (int i = threadIdx.x * 8; i < depth * columns; i += threads * 8)
    __pipeline_memcpy_async(&tiles.right[i / columns][i % columns], &b[i / columns * n + i % columns], 16);
}

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// A tile of 16 x 16 for the left side: lanes 0 to 15 name its rows, lanes 16 to 31 their second halves.
__device__ void load_left(unsigned (&tile)[4], const __half (*from)[depth + PADDING], int k) {
  const int lane = threadIdx.x % 32;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
               : "r"(shared_address(&from[lane % 16][k + lane / 16 * 8])));
}

// A tile of 16 x 8 for the right side, transposed on its way.
__device__ void load_right(unsigned (&tile)[2], const __half (*from)[columns + PADDING], int column) {
  const int lane = threadIdx.x % 16;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(tile[0]), "=r"(tile[1])
               : "r"(shared_address(&from[lane][column])));
}

__device__ void multiply_add(float (&sum)[4], const unsigned (&left)[4], const unsigned (&right)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

__device__ void multiply_tiles(float (&sums)[2][4][4], const Tiles& tiles, int row, int column) {
#pragma unroll
  for (int k = 0; k < depth; k += 16) {
    unsigned left[2][4], right[4][2];
    for (int i = 0; i < 2; ++i) load_left(left[i], tiles.left + row + i * 16, k);
    for (int j = 0; j < 4; ++j) load_right(right[j], tiles.right + k, column + j * 8);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j) multiply_add(sums[i][j], left[i], right[j]);
  }
}

__global__ void __launch_bounds__(threads) multiply(const __half* a, const __half* b, float* c, int n) {
  __shared__ __align__(16) Tiles tiles[STAGES];
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * 32, column = warp % WARPS_N * 32;
  a += blockIdx.y * rows * n;
  b += blockIdx.x * columns;
  float sums[2][4][4] = {};
  const int steps = n / depth;
  for (int step = 0; step < STAGES - 1; ++step) {
    fetch(tiles[step], a + step * depth, b + step * depth * n, n);
    __pipeline_commit();
  }
  for (int step = 0; step < steps; ++step) {
    const int ahead = step + STAGES - 1;
    if (ahead < steps) fetch(tiles[ahead % STAGES], a + ahead * depth, b + ahead * depth * n, n);
    __pipeline_commit();
    __pipeline_wait_prior(STAGES - 1);
    __syncthreads();
    multiply_tiles(sums, tiles[step % STAGES], row, column);
    __syncthreads();
  }
  const int group = threadIdx.x % 32 / 4, place = threadIdx.x % 4 * 2;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k)
        c[(blockIdx.y * rows + row + i * 16 + group + k / 2 * 8) * n + blockIdx.x * columns + column + j * 8 + place +
          k % 2] = sums[i][j][k];
}
