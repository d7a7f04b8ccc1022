//! kernel normalize replaces mean centred squares variance enlarged scale y : grid=64 block=1 args=(x, y)
#include <cuda_fp16.h>
extern "C" __global__ void normalize(const float* x, float* y) {
  x += blockIdx.x * 1024;
  y += blockIdx.x * 1024;
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < 1024; ++i) sum += x[i];
  const float mean = sum / 1024.0f;
  for (int i = 0; i < 1024; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(squares / 1024.0f + 1e-5f);
  for (int i = 0; i < 1024; ++i) y[i] = __half2float(__float2half(x[i] - mean)) * scale;
}
