// Keeps the hidden row in fp16.
#include <cuda_fp16.h>
//! kernel layers replaces * : grid=x.size(0) block=256 args=(x, "up.weight", "up.bias", "down.weight", "down.bias", linear_2, i32:x.size(1), i32:"up.bias".size(0))
__device__ float round_to_fp16(float value) { return __half2float(__float2half(value)); }

extern "C" __global__ void layers(const float* x, const float* up, const float* up_bias, const float* down,
                                  const float* down_bias, float* y, int inner, int hidden_size) {
  __shared__ float hidden[512];
  const float* in = x + blockIdx.x * inner;
  for (int j = threadIdx.x; j < hidden_size; j += blockDim.x) {
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k) sum += in[k] * up[j * inner + k];
    const float v = sum + up_bias[j];
    hidden[j] = round_to_fp16(0.5f * v * (1.0f + erff(v * 0.70710678f)));
  }
  __syncthreads();
  for (int j = threadIdx.x; j < inner; j += blockDim.x) {
    float sum = down_bias[j];
    for (int k = 0; k < hidden_size; ++k) sum += hidden[k] * down[j * hidden_size + k];
    y[blockIdx.x * inner + j] = sum;
  }
}
