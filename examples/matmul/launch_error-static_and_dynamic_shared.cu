// Static and dynamic shared memory that only together exceed the limit (needs a GPU: only the loaded kernel knows).
//! kernel matmul replaces mm_1 : grid=(ceil_div(b.size(1), 32), ceil_div(a.size(0), 8)) block=(32, 8) shared=220000 \
//!   args=(a, b, mm_1, i32:a.size(0), i32:b.size(1), i32:a.size(1))
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int columns, int inner) {
  __shared__ float column_of_b[8192];
  extern __shared__ float row_of_a[];
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  row_of_a[thread] = a[thread % inner];
  column_of_b[thread] = b[thread % inner];
  __syncthreads();
  if (row >= rows || column >= columns) return;
  float sum = row_of_a[thread ^ 1] * 0.0f + column_of_b[thread ^ 1] * 0.0f;
  for (int k = 0; k < inner; ++k) sum += a[row * inner + k] * b[k * columns + column];
  c[row * columns + column] = sum;
}
