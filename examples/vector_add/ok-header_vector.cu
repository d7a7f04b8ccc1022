// <cudal1/vector.cuh>: four elements in one access, and a tail of any length.
#include <cudal1/vector.cuh>
//! kernel add replaces add_1 : grid=ceil_div(numel(x), 1024) block=256 args=(x, y, add_1, i32:numel(x))
__global__ void add(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ sum, int count) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x), rest = count - i;
  if (rest <= 0) return;
  const bool whole = rest >= 4;
  cudal1::Vector<float, 4> a = whole ? cudal1::load<4>(x + i) : cudal1::load_part<4>(x + i, rest, 0);
  const cudal1::Vector<float, 4> b = whole ? cudal1::load<4>(y + i) : cudal1::load_part<4>(y + i, rest, 0);
  for (int k = 0; k < 4; ++k) a[k] += b[k];
  if (whole)
    cudal1::store(sum + i, a);
  else
    cudal1::store_part(sum + i, a, rest);
}
