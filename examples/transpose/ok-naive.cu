// One thread per element: reads are coalesced, writes are not.
//! kernel transpose replaces t_1 contiguous_1 : grid=(ceil_div(x.size(1), 32), ceil_div(x.size(0), 8)) block=(32, 8) \
//!   args=(x, contiguous_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  y[static_cast<long long>(column) * rows + row] = x[static_cast<long long>(row) * columns + column];
}
