// C = A B; each thread sums a small tile in registers. Tiles of a block are ROWS x COLUMNS, of a thread TM x TN.
//! define ROWS=64 COLUMNS=64 DEPTH=8 TM=4 TN=4 VECTOR=0
//! variant thread_1x4: ROWS=32 COLUMNS=64 TM=1 TN=4
//! variant thread_4x4: TM=4 TN=4
//! variant thread_4x4_vector: TM=4 TN=4 VECTOR=1
//! variant thread_8x4: ROWS=128 TM=8 TN=4
//! variant thread_8x8: ROWS=128 COLUMNS=128 TM=8 TN=8
//! variant thread_8x8_vector: ROWS=128 COLUMNS=128 TM=8 TN=8 VECTOR=1
//! variant thread_8x8_small: TM=8 TN=8
//! variant thread_4x4_deep: TM=4 TN=4 DEPTH=32
//! let n = 1024 small 128
//! let threads = ROWS*COLUMNS/(TM*TN)
//! input a f32[n*n] random
//! input b f32[n*n] random
//! buffer c f32[n*n] poison
//! launch multiply grid=(n/COLUMNS,n/ROWS) block=(threads) args=(a, b, c, i32:n)
//! reference matmul
//! check c exactly, reference relative 1e-5

constexpr int threads = ROWS * COLUMNS / (TM * TN);

// VECTOR: four elements of a tile at a time.
template <int rows, int columns>
__device__ void load_tile(float (*tile)[columns], const float* from, int n) {
  constexpr int width = VECTOR ? 4 : 1;
  for (int i = threadIdx.x * width; i < rows * columns; i += threads * width) {
    const int row = i / columns, column = i % columns;
    if (VECTOR)
      *reinterpret_cast<float4*>(&tile[row][column]) = *reinterpret_cast<const float4*>(&from[row * n + column]);
    else
      tile[row][column] = from[row * n + column];
  }
}

__global__ void __launch_bounds__(threads) multiply(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float left[ROWS][DEPTH];
  __shared__ __align__(16) float right[DEPTH][COLUMNS];
  const int top = blockIdx.y * ROWS, side = blockIdx.x * COLUMNS;
  const int row = threadIdx.x / (COLUMNS / TN) * TM, column = threadIdx.x % (COLUMNS / TN) * TN;
  float sums[TM][TN] = {};
  for (int first = 0; first < n; first += DEPTH) {
    load_tile<ROWS, DEPTH>(left, a + top * n + first, n);
    load_tile<DEPTH, COLUMNS>(right, b + first * n + side, n);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float l[TM], r[TN];
      for (int i = 0; i < TM; ++i) l[i] = left[row + i][k];
      for (int j = 0; j < TN; ++j) r[j] = right[k][column + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sums[i][j] = fmaf(l[i], r[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) c[(top + row + i) * n + side + column + j] = sums[i][j];
}
