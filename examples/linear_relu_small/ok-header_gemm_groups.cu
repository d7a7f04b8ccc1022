// <cudal1/gemm_groups.cuh>: a product at fp32 accuracy by groups of four warps, where the GPU has them, with ReLU behind.
#include <cudal1/gemm_groups.cuh>
#include <cudal1/math.cuh>
//! kernel product replaces linear_1 relu_1 : grid=1 block=256 shared=99328 args=(x, "fc.weight", relu_1)
constexpr int rows = 100, columns = 60, depth = 72;
using Tile = cudal1::ProductTile<128, 128, 32, 2, 4, 2>;
using X = cudal1::StridedOperand<float, rows, depth, true, depth, 4>;
using W = cudal1::StridedOperand<float, columns, depth, true, depth, 4>;
using Product = cudal1::TiledProduct<Tile, cudal1::Tf32x3Groups, X, W>;
static_assert(Product::shared_bytes == 99328, "as the directive has it");

__global__ void __launch_bounds__(Tile::threads) product(const float* x, const float* w, float* y) {
  extern __shared__ __align__(16) unsigned char memory[];
  const float* sums = Product::run(memory, X{x}, W{w}, 0, 0, 0, depth);
  for (int i = threadIdx.x; i < rows * columns; i += Tile::threads)
    y[i] = cudal1::relu(sums[i / columns * Tile::sums_stride + i % columns]);
}
