// Square tiles in shared memory, the tile size a template parameter.
//! kernel matmul<32> replaces mm_1 : grid=(ceil_div(b.size(1), 32), ceil_div(a.size(0), 32)) block=(32, 32) \
//!   args=(a, b, mm_1, i32:a.size(0), i32:b.size(1), i32:a.size(1))
template <int side>
__global__ void matmul(const float* a, const float* b, float* c, int rows, int columns, int inner) {
  __shared__ float a_tile[side][side];
  __shared__ float b_tile[side][side];
  const int row = blockIdx.y * side + threadIdx.y;
  const int column = blockIdx.x * side + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < inner; first += side) {
    const int a_column = first + threadIdx.x;
    const int b_row = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < rows && a_column < inner ? a[row * inner + a_column] : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] = b_row < inner && column < columns ? b[b_row * columns + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < side; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}
