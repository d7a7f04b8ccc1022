//! kernel product replaces * : grid=128 block=64 args=(a, b, exponent, y)
extern "C" __global__ void product(const float* a, const float* b, const float* exponent, float* y) {
  const int row = blockIdx.x, column = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < 256; ++k) sum += a[row * 256 + k] * b[k * 64 + column];
  y[row * 64 + column] = sum * expf(exponent[column]);
}
