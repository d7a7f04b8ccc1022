// <cudal1/gemm.cuh>: a product at fp32 accuracy on tensor cores with ReLU behind it, for sizes the compiler knows.
#include <cudal1/gemm.cuh>
#include <cudal1/math.cuh>
//! kernel product replaces linear_1 relu_1 : grid=4 block=128 shared=32256 args=(x, "fc.weight", relu_1)
constexpr int rows = 100, columns = 60, depth = 72;
using Tile = cudal1::ProductTile<64, 32, 24, 2, 2, 3>;  // 64x32 sums of 2x2 warps, 24 deep, 3 stages
using X = cudal1::StridedOperand<float, rows, depth, true, depth, 4>;
using W = cudal1::StridedOperand<float, columns, depth, true, depth, 4>;
using Product = cudal1::TiledProduct<Tile, cudal1::Tf32x3, X, W>;
static_assert(Product::shared_bytes == 32256, "as the directive has it");

__global__ void __launch_bounds__(Tile::threads) product(const float* x, const float* w, float* y) {
  extern __shared__ __align__(16) unsigned char memory[];
  const auto place = cudal1::tile_place<2, 2, 2>(blockIdx.x);
  const int row = 64 * place.row, column = 32 * place.column;
  const float* sums = Product::run(memory, X{x}, W{w}, row, column, 0, depth);
  for (int i = threadIdx.x; i < 64 * 32; i += Tile::threads)
    if (row + i / 32 < rows && column + i % 32 < columns)
      y[(row + i / 32) * columns + column + i % 32] = cudal1::relu(sums[i / 32 * Tile::sums_stride + i % 32]);
}
