//! kernel normalize replaces y : grid=1 block=32 args=(x, "w", "b", "running_mean", "running_var", y)
extern "C" __global__ void normalize(const float* x, const float* w, const float* b, float* running_mean,
                                     float* running_var, float* y) {
  const int channel = threadIdx.x;
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < 2048; ++i) sum += x[i * 32 + channel];
  const float mean = sum / 2048.0f;
  for (int i = 0; i < 2048; ++i) {
    const float distance = x[i * 32 + channel] - mean;
    squares += distance * distance;
  }
  const float variance = squares / 2048.0f;
  const float scale = rsqrtf(variance + 1e-5f) * w[channel];
  for (int i = 0; i < 2048; ++i) y[i * 32 + channel] = (x[i * 32 + channel] - mean) * scale + b[channel];
  running_mean[channel] = 0.9f * running_mean[channel] + 0.1f * mean;
  running_var[channel] = 0.9f * running_var[channel] + 0.1f * variance * (2048.0f / 2047.0f);
}
