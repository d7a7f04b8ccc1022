// Eight parts of the inner dimension, added in a second launch.
//! buffer parts f32 [8, a.size(0), b.size(1)]
//! group product replaces mm_1
//! launch partial_products : grid=(ceil_div(b.size(1), 32), ceil_div(a.size(0), 4), 8) block=(32, 4) \
//!   args=(a, b, parts, i32:a.size(0), i32:b.size(1), i32:a.size(1))
//! launch add_parts : grid=ceil_div(numel(mm_1), 128) block=128 args=(parts, mm_1, i32:numel(mm_1))
extern "C" __global__ void partial_products(const float* a, const float* b, float* parts, int rows, int columns,
                                            int inner) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const int length = (inner + 7) / 8;
  const int begin = blockIdx.z * length;
  float sum = 0.0f;
  for (int k = begin; k < min(inner, begin + length); ++k) sum += a[row * inner + k] * b[k * columns + column];
  parts[(blockIdx.z * rows + row) * columns + column] = sum;
}
extern "C" __global__ void add_parts(const float* parts, float* c, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0f;
  for (int part = 0; part < 8; ++part) sum += parts[part * count + i];
  c[i] = sum;
}
