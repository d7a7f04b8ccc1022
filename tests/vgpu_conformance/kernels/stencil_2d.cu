// The mean of four neighbours on a square, zero outside; by shape of the block.
//! define X=32 Y=8 STAGED=0
//! variant block_32x8: X=32 Y=8
//! variant block_16x16: X=16 Y=16
//! variant block_8x32: X=8 Y=32
//! variant block_256x1: X=256 Y=1
//! variant staged_32x8: STAGED=1
//! variant staged_16x16: X=16 Y=16 STAGED=1
//! let n = 4096 small 256
//! input x f32[n*n] random
//! buffer y f32[n*n] poison
//! launch stencil grid=(n/X,n/Y) block=(X,Y) args=(x, y, i32:n)
//! reference stencil_2d
//! check y exactly

__device__ float at(const float* x, int row, int column, int n) {
  return row < 0 || row >= n || column < 0 || column >= n ? 0.0f : x[row * n + column];
}

__device__ float mean(float up, float down, float left, float right) { return (up + down + left + right) * 0.25f; }

__global__ void stencil(const float* x, float* y, int n) {
  const int row = blockIdx.y * Y + threadIdx.y, column = blockIdx.x * X + threadIdx.x;
  if (!STAGED) {
    y[row * n + column] = mean(at(x, row - 1, column, n), at(x, row + 1, column, n), at(x, row, column - 1, n),
                               at(x, row, column + 1, n));
    return;
  }
  __shared__ float tile[Y + 2][X + 2];
  const int top = blockIdx.y * Y - 1, side = blockIdx.x * X - 1;
  for (int i = threadIdx.y * X + threadIdx.x; i < (Y + 2) * (X + 2); i += X * Y)
    tile[i / (X + 2)][i % (X + 2)] = at(x, top + i / (X + 2), side + i % (X + 2), n);
  __syncthreads();
  const int r = threadIdx.y + 1, c = threadIdx.x + 1;
  y[row * n + column] = mean(tile[r - 1][c], tile[r + 1][c], tile[r][c - 1], tile[r][c + 1]);
}
