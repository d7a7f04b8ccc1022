// C = A B in bfloat16 with sums in float, a warp per tile, by wmma.
//! let n = 64
//! input a bf16[n*n] between -1 1
//! input b bf16[n*n] between -1 1
//! buffer c f32[n*n] poison
//! launch multiply grid=(n/16,n/16) block=(32) args=(a, b, c, i32:n)
//! reference matmul
//! check c relative 1e-5
#include <mma.h>

using namespace nvcuda;

__global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(right, b + k * n + blockIdx.x * 16, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}
