// An error function of its own: a series of positive terms.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
// erf(z) = 2/sqrt(pi) exp(-z^2) (z + 2/3 z^3 + 4/15 z^5 + ...)
__device__ float series_erf(float z) {
  if (z > 4.0f) return 1.0f;
  float term = z, sum = z;
  for (int n = 1; n < 80 && term > 1e-9f * sum; ++n) {
    term *= 2.0f * z * z / (2 * n + 1);
    sum += term;
  }
  return fminf(1.12837917f * expf(-z * z) * sum, 1.0f);
}

extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  y[i] = 0.5f * v * (1.0f + copysignf(series_erf(fabsf(v) * 0.70710678f), v));
}
