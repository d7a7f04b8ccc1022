// A series for erf below 2, a continued fraction for erfc above.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float z = v * 0.70710678f, a = fabsf(z);
  float half_erfc;
  if (a < 2.0f) {
    float term = a, sum = a;
    for (int n = 1; n < 30; ++n) {
      term *= -a * a / n;
      sum += term / (2 * n + 1);
    }
    half_erfc = 0.5f - 0.564189584f * sum;
  } else {
    float fraction = 0.0f;
    for (int n = 24; n > 0; --n) fraction = 0.5f * n / (a + fraction);
    half_erfc = 0.5f * 0.564189584f * expf(-a * a) / (a + fraction);
  }
  y[i] = v * (z < 0.0f ? half_erfc : 1.0f - half_erfc);
}
