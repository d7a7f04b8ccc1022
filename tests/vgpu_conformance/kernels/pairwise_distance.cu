// Squared distances between all rows of two matrices of 64 columns.
//! define TILE=16 METHOD=0 SIZE=1 BLOCK_X=16 BLOCK_Y=16
//! variant naive: METHOD=0
//! variant naive_quads: METHOD=1
//! variant staged_16: METHOD=2
//! variant staged_32: METHOD=2 BLOCK_X=32 BLOCK_Y=32
//! variant staged_4_by_4: METHOD=3 SIZE=4
//! variant staged_8_by_8: METHOD=3 SIZE=8 BLOCK_X=8 BLOCK_Y=8
//! variant by_products_4_by_4: METHOD=4 SIZE=4
//! let n = 2048 small 128
//! input a f32[n*64] random
//! input b f32[n*64] random
//! buffer y f32[n*n] poison
//! launch distances grid=(n/(BLOCK_X*SIZE),n/(BLOCK_Y*SIZE)) block=(BLOCK_X,BLOCK_Y) args=(a, b, y, i32:n)
//! reference pairwise_distance
//! check y exactly, reference relative 2e-6

constexpr int columns = 64, rows_a = BLOCK_Y * SIZE, rows_b = BLOCK_X * SIZE;

__device__ float squared(float x) { return x * x; }

__device__ float naive(const float* a, const float* b) {
  float sum = 0.0f;
  for (int k = 0; k < columns; ++k) sum += squared(a[k] - b[k]);
  return sum;
}

__device__ float naive_quads(const float4* a, const float4* b) {
  float sum = 0.0f;
  for (int k = 0; k < columns / 4; ++k) {
    const float4 p = a[k], q = b[k];
    sum += squared(p.x - q.x) + squared(p.y - q.y) + squared(p.z - q.z) + squared(p.w - q.w);
  }
  return sum;
}

// TILE columns at a time; |p - q|^2, or |p|^2 + |q|^2 - 2 p q.
__device__ void staged(const float* a, const float* b, float (&sums)[SIZE][SIZE]) {
  __shared__ float left[TILE][rows_a + 1], right[TILE][rows_b + 1];
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  float own_a[SIZE], own_b[SIZE], squares_a[SIZE] = {}, squares_b[SIZE] = {};
  for (int begin = 0; begin < columns; begin += TILE) {
    __syncthreads();
    for (int i = thread; i < TILE * rows_a; i += BLOCK_X * BLOCK_Y)
      left[i % TILE][i / TILE] = a[i / TILE * columns + begin + i % TILE];
    for (int i = thread; i < TILE * rows_b; i += BLOCK_X * BLOCK_Y)
      right[i % TILE][i / TILE] = b[i / TILE * columns + begin + i % TILE];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
#pragma unroll
      for (int i = 0; i < SIZE; ++i) own_a[i] = left[k][threadIdx.y * SIZE + i];
#pragma unroll
      for (int j = 0; j < SIZE; ++j) own_b[j] = right[k][threadIdx.x + j * BLOCK_X];
      if (METHOD == 4)
#pragma unroll
        for (int i = 0; i < SIZE; ++i) squares_a[i] += squared(own_a[i]), squares_b[i] += squared(own_b[i]);
#pragma unroll
      for (int i = 0; i < SIZE; ++i)
#pragma unroll
        for (int j = 0; j < SIZE; ++j) {
          const float apart = own_a[i] - own_b[j];
          sums[i][j] = METHOD == 4 ? fmaf(own_a[i], own_b[j], sums[i][j]) : fmaf(apart, apart, sums[i][j]);
        }
    }
  }
  if (METHOD != 4) return;
#pragma unroll
  for (int i = 0; i < SIZE; ++i)
#pragma unroll
    for (int j = 0; j < SIZE; ++j) sums[i][j] = squares_a[i] + squares_b[j] - 2.0f * sums[i][j];
}

__global__ void distances(const float* a, const float* b, float* y, int n) {
  const int row = (blockIdx.y * BLOCK_Y + threadIdx.y) * SIZE, column = blockIdx.x * rows_b + threadIdx.x;
  float sums[SIZE][SIZE] = {};
  if (METHOD == 0) sums[0][0] = naive(a + row * columns, b + column * columns);
  if (METHOD == 1)
    sums[0][0] = naive_quads(reinterpret_cast<const float4*>(a + row * columns),
                             reinterpret_cast<const float4*>(b + column * columns));
  if (METHOD >= 2) staged(a + blockIdx.y * rows_a * columns, b + blockIdx.x * rows_b * columns, sums);
#pragma unroll
  for (int i = 0; i < SIZE; ++i)
#pragma unroll
    for (int j = 0; j < SIZE; ++j) y[(row + i) * n + column + j * BLOCK_X] = sums[i][j];
}
