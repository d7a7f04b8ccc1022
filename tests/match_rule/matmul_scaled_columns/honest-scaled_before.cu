// The other order, and the cheaper exponential, whose error grows with the exponent.
//! kernel product replaces * : grid=128 block=64 args=(a, b, exponent, y)
extern "C" __global__ void product(const float* a, const float* b, const float* exponent, float* y) {
  const int row = blockIdx.x, column = threadIdx.x;
  const float size = __expf(exponent[column]);
  float even = 0.0f, odd = 0.0f;
  for (int k = 254; k >= 0; k -= 2) {
    even += a[row * 256 + k] * (b[k * 64 + column] * size);
    odd += a[row * 256 + k + 1] * (b[(k + 1) * 64 + column] * size);
  }
  y[row * 64 + column] = even + odd;
}
