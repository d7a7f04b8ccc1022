// One thread, maximum and sum in one pass.
//! kernel reduce replaces * : grid=ceil_div(x.size(0), 32) block=32 args=(x, logsumexp_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void reduce(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  float largest = in[0], sum = 1.0f;
  for (int i = 1; i < columns; ++i) {
    const float grown = fmaxf(largest, in[i]);
    sum = sum * expf(largest - grown) + expf(in[i] - grown);
    largest = grown;
  }
  y[row] = largest + logf(sum);
}
