// <cudal1/gemm_bfloat16.cuh>: a product of bf16 matrices on tensor cores, summed in float; sizes the compiler knows.
#include <cudal1/gemm_bfloat16.cuh>
//! kernel product replaces linear_1 : grid=4 block=128 shared=23040 args=(x, "fc.weight", linear_1)
constexpr int rows = 100, columns = 60, depth = 72;
using bf16 = __nv_bfloat16;
using Tile = cudal1::ProductTile<64, 32, 32, 2, 2, 3>;  // 64x32 sums of 2x2 warps, 32 deep, 3 stages
using X = cudal1::StridedOperand<bf16, rows, depth, true, depth, 8>;
using W = cudal1::StridedOperand<bf16, columns, depth, true, depth, 8>;
using Product = cudal1::TiledProduct<Tile, cudal1::HalfInputs, X, W>;
static_assert(Product::shared_bytes == 23040, "as the directive has it");

__global__ void __launch_bounds__(Tile::threads) product(const bf16* x, const bf16* w, bf16* y) {
  extern __shared__ __align__(16) unsigned char memory[];
  const auto place = cudal1::tile_place<2, 2, 2>(blockIdx.x);
  const int row = 64 * place.row, column = 32 * place.column;
  const float* sums = Product::run(memory, X{x}, W{w}, row, column, 0, depth);
  for (int i = threadIdx.x; i < 64 * 32; i += Tile::threads)
    if (row + i / 32 < rows && column + i % 32 < columns)
      y[(row + i / 32) * columns + column + i % 32] =
          cudal1::from_float<bf16>(sums[i / 32 * Tile::sums_stride + i % 32]);
}
