// Tensor cores at fp32 accuracy: each operand as a large and a small TF32 part, three products, and sums carried in
// fp32 outside the tensor core after every 32 terms (needs a GPU). Sizes are multiples of 32, 64 and 32.
#include <mma.h>
//! kernel matmul replaces mm_1 : grid=(b.size(1) / 64, a.size(0) / 32) block=256 \
//!   args=(a, b, mm_1, i32:b.size(1), i32:a.size(1))
using namespace nvcuda;
using LeftTile = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using RightTile = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using SumTile = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

// On return `large` holds the operand rounded to TF32 and `small` what that left over.
template <typename Tile>
__device__ void split(Tile& large, Tile& small) {
  for (int i = 0; i < large.num_elements; ++i) {
    const float value = large.x[i];
    large.x[i] = wmma::__float_to_tf32(value);
    small.x[i] = wmma::__float_to_tf32(value - large.x[i]);
  }
}

// A warp per 16x16 tile; eight warps cover 32 rows and 64 columns.
extern "C" __global__ void __launch_bounds__(256) matmul(const float* a, const float* b, float* c, int columns,
                                                         int inner) {
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 32 + 16 * (warp / 4);
  const int column = blockIdx.x * 64 + 16 * (warp % 4);
  SumTile total;
  wmma::fill_fragment(total, 0.0f);
  for (int first = 0; first < inner; first += 32) {
    SumTile part;
    wmma::fill_fragment(part, 0.0f);
    for (int k = first; k < first + 32; k += 8) {
      LeftTile left, left_small;
      RightTile right, right_small;
      wmma::load_matrix_sync(left, a + row * inner + k, inner);
      wmma::load_matrix_sync(right, b + k * columns + column, columns);
      split(left, left_small);
      split(right, right_small);
      wmma::mma_sync(part, left_small, right, part);
      wmma::mma_sync(part, left, right_small, part);
      wmma::mma_sync(part, left, right, part);
    }
    for (int i = 0; i < total.num_elements; ++i) total.x[i] += part.x[i];
  }
  wmma::store_matrix_sync(c + row * columns + column, total, columns, wmma::mem_row_major);
}
