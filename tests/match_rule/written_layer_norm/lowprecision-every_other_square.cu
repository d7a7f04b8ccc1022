//! kernel normalize replaces mean centred squares variance enlarged scale y : grid=64 block=1 args=(x, y)
extern "C" __global__ void normalize(const float* x, float* y) {
  x += blockIdx.x * 1024;
  y += blockIdx.x * 1024;
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < 1024; ++i) sum += x[i];
  const float mean = sum / 1024.0f;
  for (int i = 0; i < 1024; i += 2) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(squares / 512.0f + 1e-5f);
  for (int i = 0; i < 1024; ++i) y[i] = (x[i] - mean) * scale;
}
