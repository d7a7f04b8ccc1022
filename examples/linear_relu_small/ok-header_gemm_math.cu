// <cudal1/gemm_math.cuh>: the warps of one block multiply what it put into shared memory itself, all of it at once.
#include <cudal1/gemm_math.cuh>
//! kernel product replaces linear_1 relu_1 : grid=1 block=128 shared=58368 args=(x, "fc.weight", relu_1)
constexpr int rows = 100, columns = 60, depth = 72;
using Tile = cudal1::ProductTile<128, 64, depth, 2, 2, 2>;
using SharedX = cudal1::SharedOperand<float, 128, depth, true>;
using SharedW = cudal1::SharedOperand<float, 64, depth, true>;
static_assert(4 * (SharedX::elements + SharedW::elements) == 58368, "as the directive has it");

__global__ void __launch_bounds__(Tile::threads) product(const float* x, const float* w, float* y) {
  extern __shared__ __align__(16) float memory[];
  float* shared_w = memory + SharedX::elements;
  for (int i = threadIdx.x; i < 128 * depth; i += Tile::threads)
    memory[SharedX::place(i / depth, i % depth)] = i < rows * depth ? x[i] : 0.0f;
  for (int i = threadIdx.x; i < 64 * depth; i += Tile::threads)
    shared_w[SharedW::place(i / depth, i % depth)] = i < columns * depth ? w[i] : 0.0f;
  __syncthreads();
  cudal1::Tf32x3::Sums<float, Tile, SharedX, SharedW> sums;
  sums.add(memory, shared_w);
  __syncthreads();  // the operands have been read
  sums.store(memory);
  __syncthreads();
  for (int i = threadIdx.x; i < rows * columns; i += Tile::threads)
    y[i] = fmaxf(memory[i / columns * Tile::sums_stride + i % columns], 0.0f);
}
