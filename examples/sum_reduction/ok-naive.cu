// One thread per row adds its row from left to right.
//! kernel row_sum replaces sum_1 : grid=ceil_div(x.size(0), 64) block=64 args=(x, sum_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void row_sum(const float* x, float* sums, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) sum += x[static_cast<long long>(row) * columns + i];
  sums[row] = sum;
}
