//! kernel difference replaces sa sb y : grid=64 block=1 args=(a, b, y)
extern "C" __global__ void difference(const float* a, const float* b, float* y) {
  float first = 0.0f, second = 0.0f;
  for (int i = 0; i < 16384; ++i) {
    first += a[blockIdx.x * 16384 + i];
    second += b[blockIdx.x * 16384 + i];
  }
  y[blockIdx.x] = first - second;
}
