// C = A B with square tiles in shared memory.
//! define TILE=16 UNROLL=1 TRANSPOSED=0
//! variant tile_8: TILE=8
//! variant tile_16: TILE=16
//! variant tile_32: TILE=32
//! variant tile_16_rolled: TILE=16 UNROLL=0
//! variant tile_32_rolled: TILE=32 UNROLL=0
//! variant tile_32_conflicts: TILE=32 TRANSPOSED=1
//! let n = 1024 small 64
//! input a f32[n*n] random
//! input b f32[n*n] random
//! buffer c f32[n*n] poison
//! launch multiply grid=(n/TILE,n/TILE) block=(TILE,TILE) args=(a, b, c, i32:n)
//! reference matmul
//! check c exactly, reference relative 1e-5

// TRANSPOSED: the right tile lies column by column, so that neighbours read the same bank.
__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += TILE) {
    left[y][x] = a[row * n + first + x];
    (TRANSPOSED ? right[x][y] : right[y][x]) = b[(first + y) * n + column];
    __syncthreads();
#pragma unroll UNROLL ? TILE : 1
    for (int k = 0; k < TILE; ++k) sum = fmaf(left[y][k], TRANSPOSED ? right[x][k] : right[k][x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}
