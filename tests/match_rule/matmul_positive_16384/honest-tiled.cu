// Sums of 16 products, added up.
//! kernel matmul replaces mm_1 : grid=(ceil_div(b.size(1), 16), ceil_div(a.size(0), 16)) block=(16, 16) \
//!   args=(a, b, mm_1, i32:a.size(0), i32:b.size(1), i32:a.size(1))
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int columns, int inner) {
  __shared__ float a_tile[16][16];
  __shared__ float b_tile[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  float total = 0.0f;
  for (int first = 0; first < inner; first += 16) {
    const int a_column = first + threadIdx.x;
    const int b_row = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < rows && a_column < inner ? a[row * inner + a_column] : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] = b_row < inner && column < columns ? b[b_row * columns + column] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 16; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    total += sum;
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = total;
}
