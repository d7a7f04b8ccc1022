//! kernel normalize replaces * : grid=1 block=128 args=(x, bias, y)
extern "C" __global__ void normalize(const float* x, const float* bias, float* y) {
  const float* in = x + threadIdx.x * 900;
  const float shift = bias[threadIdx.x % 16];
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < 900; ++i) sum += in[i] + shift;
  const float mean = sum / 900.0f;
  for (int i = 0; i < 900; ++i) squares += (in[i] + shift - mean) * (in[i] + shift - mean);
  const float scale = rsqrtf(squares / 900.0f + 1e-5f);
  for (int i = 0; i < 900; ++i) y[threadIdx.x * 900 + i] = (in[i] + shift - mean) * scale;
}
