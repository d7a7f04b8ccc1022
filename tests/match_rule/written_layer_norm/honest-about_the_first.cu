//! kernel normalize replaces mean centred squares variance enlarged scale y : grid=64 block=1 args=(x, y)
extern "C" __global__ void normalize(const float* x, float* y) {
  x += blockIdx.x * 1024;
  y += blockIdx.x * 1024;
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < 1024; ++i) {
    const float distance = x[i] - x[0];
    sum += distance;
    squares += distance * distance;
  }
  const float mean = sum / 1024.0f;
  const float scale = rsqrtf(fmaxf(squares / 1024.0f - mean * mean, 0.0f) + 1e-5f);
  for (int i = 0; i < 1024; ++i) y[i] = (x[i] - x[0] - mean) * scale;
}
