// Abramowitz and Stegun 7.1.25: three terms, off by up to 2.5e-5.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
__device__ float short_erf(float z) {
  const float t = 1.0f / (1.0f + 0.47047f * z);
  return 1.0f - t * (0.3480242f + t * (-0.0958798f + t * 0.7478556f)) * expf(-z * z);
}

extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  y[i] = 0.5f * v * (1.0f + copysignf(short_erf(fabsf(v) * 0.70710678f), v));
}
