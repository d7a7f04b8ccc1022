// One pass over differences from the first element, one thread a row.
//! kernel reduce replaces * : grid=ceil_div(x.size(0), 32) block=32 args=(x, var_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void reduce(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  const float shift = in[0];
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < columns; ++i) {
    const float difference = in[i] - shift;
    sum += difference;
    squares += difference * difference;
  }
  y[row] = (squares - sum * sum / columns) / (columns - 1);
}
