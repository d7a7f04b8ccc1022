// <cudal1/operations.cuh>: the largest element and the first place where it stands, a warp per row.
#include <cudal1/operations.cuh>
#include <cudal1/reduce.cuh>
//! kernel row_max replaces max_1 : grid=ceil_div(x.size(0), 8) block=256 \
//!   args=(x, max_1, max_1[1], i32:x.size(0), i32:x.size(1))
using Largest = cudal1::ArgMax<float>;

__global__ void row_max(const float* __restrict__ x, float* __restrict__ values, long long* __restrict__ indices,
                        int rows, int columns) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  if (row >= rows) return;  // whole warps
  const float* in = x + static_cast<long long>(row) * columns;
  Largest::Value best = Largest::identity();
  for (int i = cudal1::lane(); i < columns; i += 32) best = Largest::add(best, in[i], i);
  best = cudal1::warp_reduce<Largest>(best);
  if (cudal1::lane() != 0) return;
  values[row] = best.value;
  indices[row] = best.index;
}
