// An error function of its own: a series of positive terms near zero, a continued fraction further out.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
// erf(z) = 2/sqrt(pi) exp(-z^2) (z + 2/3 z^3 + 4/15 z^5 + ...)
__device__ float series_erf(float z) {
  float term = z, sum = z;
  for (int n = 1; n < 30; ++n) {
    term *= 2.0f * z * z / (2 * n + 1);
    sum += term;
  }
  return 1.12837917f * expf(-z * z) * sum;
}

// erfc(z) = exp(-z^2)/sqrt(pi) / (z + 1/2 / (z + 2/2 / (z + 3/2 / ...)))
__device__ float continued_erfc(float z) {
  float denominator = z;
  for (int n = 60; n > 0; --n) denominator = z + 0.5f * n / denominator;
  return 0.56418958f * expf(-z * z) / denominator;
}

extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float z = fabsf(v) * 0.70710678f;
  const float tail = 0.5f * (z < 1.0f ? 1.0f - series_erf(z) : continued_erfc(z));
  y[i] = v * (v < 0.0f ? tail : 1.0f - tail);
}
