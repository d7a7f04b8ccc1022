// The inner dimension in four parts computed side by side, then added: two launches and scratch for the parts.
//! buffer parts f32 [4, a.size(0), b.size(1)]
//! group product replaces mm_1
//! launch partial_products : grid=(ceil_div(b.size(1), 32), ceil_div(a.size(0), 32), 4) block=(32, 32) \
//!   args=(a, b, parts, i32:a.size(0), i32:b.size(1), i32:a.size(1))
//! launch add_parts : grid=ceil_div(numel(mm_1), 256) block=256 args=(parts, mm_1, i32:numel(mm_1))
//! graph
extern "C" __global__ void partial_products(const float* a, const float* b, float* parts, int rows, int columns,
                                            int inner) {
  __shared__ float a_tile[32][32];
  __shared__ float b_tile[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y;
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int part_length = 32 * ((inner + 32 * 4 - 1) / (32 * 4));
  const int begin = blockIdx.z * part_length;
  const int end = min(inner, begin + part_length);
  float sum = 0.0f;
  for (int first = begin; first < end; first += 32) {
    const int a_column = first + threadIdx.x;
    const int b_row = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < rows && a_column < end ? a[row * inner + a_column] : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] = b_row < end && column < columns ? b[b_row * columns + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) parts[(static_cast<long long>(blockIdx.z) * rows + row) * columns + column] = sum;
}
extern "C" __global__ void add_parts(const float* parts, float* c, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  c[i] = (parts[i] + parts[i + count]) + (parts[i + 2 * count] + parts[i + 3 * count]);
}
