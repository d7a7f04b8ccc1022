// <cudal1/half.cuh>: eight fp16 elements in one access, computed in float. The number of elements is a multiple of 8.
#include <cudal1/half.cuh>
#include <cudal1/math.cuh>
//! kernel silu_mul replaces silu_1 mul_1 : grid=ceil_div(numel(gate), 2048) block=256 \
//!   args=(gate, up, mul_1, i32:numel(gate))
__global__ void silu_mul(const __half* __restrict__ gate, const __half* __restrict__ up, __half* __restrict__ y,
                         int count) {
  const int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  cudal1::Vector<float, 8> g = cudal1::to_float(cudal1::load<8>(gate + i));
  const cudal1::Vector<float, 8> u = cudal1::to_float(cudal1::load<8>(up + i));
  for (int k = 0; k < 8; ++k) g[k] = cudal1::silu(g[k]) * u[k];
  cudal1::store(y + i, cudal1::from_float<__half>(g));
}
