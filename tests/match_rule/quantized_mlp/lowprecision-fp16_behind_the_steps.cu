//! buffer steps f32 [16,1024]
//! group both replaces h m r c d y
//! launch first : grid=(16,16) block=64 args=(x, "w1", steps)
//! launch second : grid=16 block=64 args=(steps, "w2", y)
#include <cuda_fp16.h>
extern "C" __global__ void first(const float* x, const float* w, float* steps) {
  const int row = blockIdx.x, column = blockIdx.y * 64 + threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < 256; ++i) sum += x[row * 256 + i] * w[column * 256 + i];
  steps[row * 1024 + column] = fminf(fmaxf(rintf(sum * 16.0f), -128.0f), 127.0f);
}
extern "C" __global__ void second(const float* steps, const float* w, float* y) {
  const int row = blockIdx.x, column = threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < 1024; ++i) sum += steps[row * 1024 + i] * __half2float(__float2half(w[column * 1024 + i]));
  y[row * 64 + column] = sum * 0.0625f;
}
