// <cudal1/gemm_gather.cuh>: a convolution as a product of its filters with windows that are gathered on their way.
#include <cudal1/gemm_gather.cuh>
#include <cudal1/math.cuh>
//! kernel convolution replaces conv1d_1 relu_1 : grid=8 block=128 shared=41472 args=(x, "conv.weight", relu_1)
constexpr int length = 100, inputs = 6, outputs = 20, window = 5, depth = inputs * window;
using Tile = cudal1::ProductTile<32, 64, 32, 2, 2, 3>;  // 32x64 sums of 2x2 warps, 32 deep, 3 stages
using W = cudal1::StridedOperand<float, outputs, depth, true, depth, 2>;

__global__ void __launch_bounds__(Tile::threads) convolution(const float* x, const float* w, float* y) {
  extern __shared__ __align__(16) unsigned char memory[];
  const auto place = cudal1::tile_place<1, 2, 1>(blockIdx.x);
  const int column = 64 * place.column, line = column + threadIdx.x % 64;  // what the thread gathers is for y[…, line]
  const auto tap = [](unsigned k) {
    const int inside = k % window, channel = k / window;
    return cudal1::Spot<1>{length * channel + inside, {inside}};
  };
  const auto windows = cudal1::gathered_operand<length>(x + inputs * length * place.batch,
                                                        cudal1::Spot<1>{line - 2, {line - 2}}, line < length, tap);
  const float* sums = cudal1::tiled_product<Tile, cudal1::Tf32x3>(memory, W{w}, windows, 0, column, 0, depth);
  for (int i = threadIdx.x; i < 32 * 64; i += Tile::threads)
    if (i / 64 < outputs && column + i % 64 < length)
      y[(outputs * place.batch + i / 64) * length + column + i % 64] =
          cudal1::relu(sums[i / 64 * Tile::sums_stride + i % 64]);
}
