// A 3 x 3 filter of its own for every channel, zero outside: directly, or from a tile in shared memory.
//! define X=32 Y=8 STAGED=0 ITEMS=1
//! variant block_32x8: X=32 Y=8
//! variant block_16x16: X=16 Y=16
//! variant block_8x8: X=8 Y=8
//! variant staged_32x8: STAGED=1
//! variant staged_16x16: STAGED=1 X=16 Y=16
//! variant four_rows_each: ITEMS=4
//! let channels = 64 small 2
//! let n = 256 small 64
//! input x f32[channels*n*n] random
//! input w f32[channels*9] random
//! buffer y f32[channels*n*n] poison
//! launch convolve grid=(n/X,n/(Y*ITEMS),channels) block=(X,Y) args=(x, w, y, i32:n)
//! reference depthwise_conv
//! check y exactly

__device__ float at(const float* x, int row, int column, int n) {
  return row < 0 || row >= n || column < 0 || column >= n ? 0.0f : x[row * n + column];
}

__global__ void convolve(const float* x, const float* w, float* y, int n) {
  constexpr int rows = Y * ITEMS;
  __shared__ float tile[STAGED ? rows + 2 : 1][X + 2];
  x += blockIdx.z * n * n;
  y += blockIdx.z * n * n;
  w += blockIdx.z * 9;
  const int top = blockIdx.y * rows - 1, side = blockIdx.x * X - 1;
  if (STAGED) {
    for (int i = threadIdx.y * X + threadIdx.x; i < (rows + 2) * (X + 2); i += X * Y)
      tile[i / (X + 2)][i % (X + 2)] = at(x, top + i / (X + 2), side + i % (X + 2), n);
    __syncthreads();
  }
  for (int r = threadIdx.y; r < rows; r += Y) {
    float sum = 0.0f;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const float here = STAGED ? tile[r + i][threadIdx.x + j] : at(x, top + r + i, side + threadIdx.x + j, n);
        sum = fmaf(w[i * 3 + j], here, sum);
      }
    y[(top + 1 + r) * n + side + 1 + threadIdx.x] = sum;
  }
}
