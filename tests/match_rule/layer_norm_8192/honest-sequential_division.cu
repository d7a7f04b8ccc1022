// One thread a row, two passes, 1 / sqrt.
//! kernel normalize replaces layer_norm_1 : grid=ceil_div(x.size(0), 32) block=32 args=(x, "norm.weight", "norm.bias", layer_norm_1, i32:x.size(0), i32:x.size(1))
extern "C" __global__ void normalize(const float* x, const float* weight, const float* bias, float* y, int rows,
                                     int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  float* out = y + static_cast<long long>(row) * columns;
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < columns; ++i) sum += in[i];
  const float mean = sum / columns;
  for (int i = 0; i < columns; ++i) squares += (in[i] - mean) * (in[i] - mean);
  const float scale = 1.0f / sqrtf(squares * (1.0f / columns) + 1e-5f);
  for (int i = 0; i < columns; ++i) out[i] = (in[i] - mean) * scale * weight[i] + bias[i];
}
