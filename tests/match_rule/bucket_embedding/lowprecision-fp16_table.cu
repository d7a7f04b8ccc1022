//! kernel rows replaces h f c i e : grid=128 block=256 args=(x, "table", e)
#include <cuda_fp16.h>
extern "C" __global__ void rows(const float* x, const float* table, float* e) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int row = (int)fminf(fmaxf(floorf(x[i / 8] * 1.0009765625f), 0.0f), 63.0f);
  e[i] = __half2float(__float2half(table[row * 8 + i % 8]));
}
