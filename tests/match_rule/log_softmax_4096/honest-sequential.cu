// One thread a row.
//! kernel softmax replaces log_softmax_1 : grid=ceil_div(x.size(0), 32) block=32 args=(x, log_softmax_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  float* out = y + static_cast<long long>(row) * columns;
  float largest = in[0];
  for (int i = 1; i < columns; ++i) largest = fmaxf(largest, in[i]);
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) sum += expf(in[i] - largest);
  for (int i = 0; i < columns; ++i) out[i] = in[i] - largest - logf(sum);
}
