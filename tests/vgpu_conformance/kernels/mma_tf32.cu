// C = A B in TF32 by wmma; whole numbers up to 8 are exact in it.
//! let n = 64
//! input a f32[n*n] below 8
//! input b f32[n*n] below 8
//! buffer c f32[n*n] poison
//! launch multiply grid=(n/16,n/16) block=(32) args=(a, b, c, i32:n)
//! reference matmul
//! check c exactly
#include <mma.h>

using namespace nvcuda;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 8) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(right, b + k * n + blockIdx.x * 16, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}
