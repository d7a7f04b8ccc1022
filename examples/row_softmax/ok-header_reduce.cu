// <cudal1/reduce.cuh>: softmax from one pass over the row, one reduction, and a pass that writes.
#include <cudal1/reduce.cuh>
//! kernel row_softmax replaces softmax_1 : grid=x.size(0) block=256 args=(x, softmax_1, i32:x.size(1))
using Online = cudal1::LogSumExp<float>;

__global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int columns) {
  const long long row = static_cast<long long>(blockIdx.x) * columns;
  Online::Value seen = Online::identity();
  for (int i = threadIdx.x; i < columns; i += 256) seen = Online::add(seen, x[row + i]);
  seen = cudal1::block_reduce<Online, 256>(seen);  // every thread gets it
  for (int i = threadIdx.x; i < columns; i += 256) y[row + i] = expf(x[row + i] - seen.maximum) / seen.sum;
}
