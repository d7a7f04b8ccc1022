// C = A B, one element per thread, by shape of the block and direction of its threads.
//! define X=16 Y=16 SWAPPED=0
//! variant block_16x16: X=16 Y=16
//! variant block_32x8: X=32 Y=8
//! variant block_8x32: X=8 Y=32
//! variant block_256x1: X=256 Y=1
//! variant block_32x32: X=32 Y=32
//! variant threads_along_columns: SWAPPED=1
//! let n = 512 small 64
//! let wide = (n+X-1)/X
//! let high = (n+Y-1)/Y
//! input a f32[n*n] random
//! input b f32[n*n] random
//! buffer c f32[n*n] poison
//! launch multiply grid=(wide,high) block=(X,Y) args=(a, b, c, i32:n)
//! reference matmul
//! check c exactly, reference relative 1e-5

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * X + threadIdx.x, y = blockIdx.y * Y + threadIdx.y;
  const int row = SWAPPED ? x : y, column = SWAPPED ? y : x;
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + column], sum);
  c[row * n + column] = sum;
}
