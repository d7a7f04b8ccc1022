// The sum of six neighbours in a cube, zero outside: a thread per point, or threads that march along z.
//! define X=32 Y=8 MARCH=0
//! variant block_32x8: X=32 Y=8
//! variant block_64x4: X=64 Y=4
//! variant block_8x8: X=8 Y=8
//! variant march_32x8: MARCH=1
//! variant march_16x16: X=16 Y=16 MARCH=1
//! variant march_64x2: X=64 Y=2 MARCH=1
//! let n = 256 small 64
//! let layers = n*(1-MARCH) + MARCH
//! input x f32[n*n*n] random
//! buffer y f32[n*n*n] poison
//! launch stencil grid=(n/X,n/Y,layers) block=(X,Y) args=(x, y, i32:n)
//! reference stencil_3d
//! check y exactly

__device__ float at(const float* x, int i, int j, int k, int n) {
  const bool inside = i >= 0 && i < n && j >= 0 && j < n && k >= 0 && k < n;
  return inside ? x[(k * n + j) * n + i] : 0.0f;
}

__device__ float around(const float* x, int i, int j, int k, int n) {
  return at(x, i - 1, j, k, n) + at(x, i + 1, j, k, n) + at(x, i, j - 1, k, n) + at(x, i, j + 1, k, n);
}

__global__ void stencil(const float* x, float* y, int n) {
  const int i = blockIdx.x * X + threadIdx.x, j = blockIdx.y * Y + threadIdx.y;
  if (!MARCH) {
    const int k = blockIdx.z;
    y[(k * n + j) * n + i] = around(x, i, j, k, n) + at(x, i, j, k - 1, n) + at(x, i, j, k + 1, n);
    return;
  }
  float below = 0.0f, here = at(x, i, j, 0, n);
  for (int k = 0; k < n; ++k) {
    const float above = at(x, i, j, k + 1, n);
    y[(k * n + j) * n + i] = around(x, i, j, k, n) + below + above;
    below = here;
    here = above;
  }
}
