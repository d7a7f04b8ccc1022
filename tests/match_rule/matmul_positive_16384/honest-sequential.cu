// One thread an element, from the first product to the last.
//! kernel product replaces mm_1 : grid=(ceil_div(b.size(1), 16), ceil_div(a.size(0), 16)) block=(16, 16) args=(a, b, mm_1, i32:a.size(0), i32:a.size(1), i32:b.size(1))
extern "C" __global__ void product(const float* a, const float* b, float* c, int m, int k, int n) {
  const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}
