// Formula 7.1.25 of Abramowitz and Stegun, whose error is 2.5e-5.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float z = fabsf(v) * 0.70710678f, t = 1.0f / (1.0f + 0.47047f * z);
  const float e = 1.0f - t * (0.3480242f + t * (-0.0958798f + t * 0.7478556f)) * expf(-z * z);
  y[i] = 0.5f * v * (1.0f + (v < 0.0f ? -e : e));
}
