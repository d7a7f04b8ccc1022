// B = A^T: straight, or through a tile of shared memory with or without padding.
//! define TILE=32 ROWS=8 PADDING=1 KERNEL=through_shared
//! variant reads_in_order: KERNEL=reads_in_order
//! variant writes_in_order: KERNEL=writes_in_order
//! variant tile_32: PADDING=0
//! variant tile_32_padded: PADDING=1
//! variant tile_32_one_row_each: ROWS=32
//! variant tile_16_padded: TILE=16 ROWS=16
//! variant tile_8_padded: TILE=8 ROWS=8
//! let n = 4096 small 128
//! input a f32[n*n] random
//! buffer b f32[n*n] poison
//! launch KERNEL grid=(n/TILE,n/TILE) block=(TILE,ROWS) args=(a, b, i32:n)
//! reference transpose
//! check b exactly

__global__ void reads_in_order(const float* a, float* b, int n) {
  const int x = blockIdx.x * TILE + threadIdx.x;
  for (int y = blockIdx.y * TILE + threadIdx.y; y < (blockIdx.y + 1) * TILE; y += ROWS) b[x * n + y] = a[y * n + x];
}

__global__ void writes_in_order(const float* a, float* b, int n) {
  const int x = blockIdx.x * TILE + threadIdx.x;
  for (int y = blockIdx.y * TILE + threadIdx.y; y < (blockIdx.y + 1) * TILE; y += ROWS) b[y * n + x] = a[x * n + y];
}

__global__ void through_shared(const float* a, float* b, int n) {
  __shared__ float tile[TILE][TILE + PADDING];
  const int x = threadIdx.x, left = blockIdx.x * TILE, top = blockIdx.y * TILE;
  for (int y = threadIdx.y; y < TILE; y += ROWS) tile[y][x] = a[(top + y) * n + left + x];
  __syncthreads();
  for (int y = threadIdx.y; y < TILE; y += ROWS) b[(left + y) * n + top + x] = tile[x][y];
}
