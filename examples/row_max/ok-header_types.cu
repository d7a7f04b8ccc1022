// <cudal1/types.cuh>: what a maximum starts from, for elements of any type; a thread per row.
#include <cudal1/types.cuh>
//! kernel row_max<float> replaces max_1 : grid=ceil_div(x.size(0), 64) block=64 \
//!   args=(x, max_1, max_1[1], i32:x.size(0), i32:x.size(1))
template <class T>
__global__ void row_max(const T* __restrict__ x, T* __restrict__ values, long long* __restrict__ indices, int rows,
                        int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + static_cast<long long>(row) * columns;
  T largest = cudal1::lowest<T>();  // -infinity, or the least integer
  int best = 0;
  for (int i = 0; i < columns; ++i) {
    if (!(in[i] > largest)) continue;
    largest = in[i];
    best = i;
  }
  values[row] = largest;
  indices[row] = best;
}
