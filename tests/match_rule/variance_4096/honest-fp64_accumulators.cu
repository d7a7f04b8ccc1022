// Sum and sum of squares in one pass, in fp64.
//! kernel reduce replaces * : grid=ceil_div(x.size(0), 32) block=32 args=(x, var_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void reduce(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < columns; ++i) {
    sum += in[i];
    squares += static_cast<double>(in[i]) * in[i];
  }
  y[row] = static_cast<float>((squares - sum * sum / columns) / (columns - 1));
}
