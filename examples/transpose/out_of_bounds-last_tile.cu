// The tiles at the lower edge are written without a bounds check, past the end of the output.
//! kernel transpose replaces * : grid=(ceil_div(x.size(1), 32), ceil_div(x.size(0), 8)) block=(32, 8) \
//!   args=(x, contiguous_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  const long long to = static_cast<long long>(column) * rows + row;
  if (row < rows && column < columns) y[to] = x[static_cast<long long>(row) * columns + column];
  if (column == columns && row < 64) y[to] = 0.0f;
}
