// One level of Strassen's algorithm: seven products of quadrants.
//! kernel matmul replaces mm_1 : grid=(ceil_div(b.size(1) / 2, 32), ceil_div(a.size(0) / 2, 4)) block=(32, 4) \
//!   args=(a, b, mm_1, i32:a.size(0) / 2, i32:b.size(1) / 2, i32:a.size(1) / 2)
// Each thread makes one element of all four quadrants; the sizes handed over are those of a quadrant.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int columns, int inner) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float m[7] = {};
  for (int k = 0; k < inner; ++k) {
    const float a11 = a[row * 2 * inner + k], a12 = a[row * 2 * inner + inner + k];
    const float a21 = a[(row + rows) * 2 * inner + k], a22 = a[(row + rows) * 2 * inner + inner + k];
    const float b11 = b[k * 2 * columns + column], b12 = b[k * 2 * columns + columns + column];
    const float b21 = b[(k + inner) * 2 * columns + column], b22 = b[(k + inner) * 2 * columns + columns + column];
    m[0] += (a11 + a22) * (b11 + b22);
    m[1] += (a21 + a22) * b11;
    m[2] += a11 * (b12 - b22);
    m[3] += a22 * (b21 - b11);
    m[4] += (a11 + a12) * b22;
    m[5] += (a21 - a11) * (b11 + b12);
    m[6] += (a12 - a22) * (b21 + b22);
  }
  c[row * 2 * columns + column] = m[0] + m[3] - m[4] + m[6];
  c[row * 2 * columns + columns + column] = m[2] + m[4];
  c[(row + rows) * 2 * columns + column] = m[1] + m[3];
  c[(row + rows) * 2 * columns + columns + column] = m[0] - m[1] + m[2] + m[5];
}
