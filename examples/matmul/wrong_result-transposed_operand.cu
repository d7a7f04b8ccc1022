// Reads b as if it were stored transposed; the shapes hide it, since b is square.
//! kernel matmul replaces mm_1 : grid=(ceil_div(b.size(1), 32), ceil_div(a.size(0), 8)) block=(32, 8) \
//!   args=(a, b, mm_1, i32:a.size(0), i32:b.size(1), i32:a.size(1))
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int columns, int inner) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < inner; ++k) sum += a[row * inner + k] * b[column * inner + k];
  c[row * columns + column] = sum;
}
