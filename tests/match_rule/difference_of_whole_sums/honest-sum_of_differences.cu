//! kernel difference replaces sa sb y : grid=64 block=1 args=(a, b, y)
extern "C" __global__ void difference(const float* a, const float* b, float* y) {
  float sum = 0.0f;
  for (int i = 0; i < 16384; ++i) sum += a[blockIdx.x * 16384 + i] - b[blockIdx.x * 16384 + i];
  y[blockIdx.x] = sum;
}
