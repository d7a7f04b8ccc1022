//! kernel products replaces y : grid=32 block=32 args=(a, b, y)
extern "C" __global__ void products(const float* a, const float* b, float* y) {
  const int row = blockIdx.x, column = threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < 4096; ++i) sum = fmaf(a[row * 4096 + i], b[column * 4096 + i], sum);
  y[row * 32 + column] = sum;
}
