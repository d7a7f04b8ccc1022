// y = A^T x: a column's sum belongs to one thread, to a block's threads, or to blocks that add atomically.
//! define X=256 Y=1 ROWS=4096 WIDTH=1 WARP=0 DEVICES=0
//! variant thread_per_column: X=64
//! variant block_32x8: X=32 Y=8
//! variant block_32x32: X=32 Y=32
//! variant block_8x32_quads: X=8 Y=32 WIDTH=4
//! variant atomics_64_rows: X=256 ROWS=64 DEVICES=1e-5
//! variant atomics_256_rows_quads: X=64 Y=4 ROWS=256 WIDTH=4 DEVICES=1e-5
//! variant warp_per_column: WARP=1 X=32 Y=8
//! let rows = 4096
//! let columns = 4096 small 256
//! input a f32[rows*columns] random
//! input x f32[rows] random
//! buffer y f32[columns] zero
//! launch multiply grid=(columns/(X*WIDTH),rows/ROWS) block=(X,Y) args=(a, x, y, i32:columns) when=1-WARP
//! launch warp_per_column grid=(columns/Y) block=(32,Y) args=(a, x, y, i32:rows, i32:columns) when=WARP
//! reference gemv_transposed
//! check y relative DEVICES, reference relative 2e-5

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

// ROWS rows, every Y-th of them by the same threads.
__device__ Pack part_of_sum(const Pack* a, const float* x, int packs) {
  Pack sum{};
#pragma unroll 4
  for (int i = threadIdx.y; i < ROWS; i += Y) {
    const Pack row = a[i * packs];
    for (int k = 0; k < WIDTH; ++k) sum.element[k] = fmaf(row.element[k], x[i], sum.element[k]);
  }
  return sum;
}

__global__ void multiply(const Pack* a, const float* x, float* y, int columns) {
  __shared__ Pack partial[Y][X];
  const int packs = columns / WIDTH, column = blockIdx.x * X + threadIdx.x, first = blockIdx.y * ROWS;
  Pack sum = part_of_sum(a + first * packs + column, x + first, packs);
  if (Y > 1) {
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0) return;
    for (int i = 1; i < Y; ++i)
      for (int k = 0; k < WIDTH; ++k) sum.element[k] += partial[i][threadIdx.x].element[k];
  }
  for (int k = 0; k < WIDTH; ++k)
    if (gridDim.y > 1)
      atomicAdd(y + column * WIDTH + k, sum.element[k]);
    else
      y[column * WIDTH + k] = sum.element[k];
}

__global__ void warp_per_column(const float* a, const float* x, float* y, int rows, int columns) {
  const int column = blockIdx.x * Y + threadIdx.y;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < rows; i += 32) sum = fmaf(a[i * columns + column], x[i], sum);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x == 0) y[column] = sum;
}
