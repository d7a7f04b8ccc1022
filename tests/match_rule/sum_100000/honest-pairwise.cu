// Neighbours first, then pairs of pairs.
//! kernel reduce replaces * : grid=ceil_div(x.size(0), 32) block=32 args=(x, sum_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void reduce(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  // A binary counter of partial sums: level k holds the sum of 2^k neighbours.
  float level_sum[24];
  int filled = 0;
  for (int i = 0; i < columns; ++i) {
    float sum = in[i];
    int level = 0;
    while (filled >> level & 1) sum = level_sum[level++] + sum;
    level_sum[level] = sum;
    filled = i + 1;
  }
  float total = 0.0f;
  for (int level = 0; level < 24; ++level) {
    if (filled >> level & 1) total = level_sum[level] + total;
  }
  y[row] = total;
}
