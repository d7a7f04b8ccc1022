// Each row is cut into four parts that are summed apart, then the parts are added.
//! buffer parts f32 [x.size(0), 4]
//! group row_sums replaces sum_1
//! launch sum_parts : grid=(4, ceil_div(x.size(0), 8)) block=256 args=(x, parts, i32:x.size(0), i32:x.size(1))
//! launch add_parts : grid=ceil_div(x.size(0), 256) block=256 args=(parts, sum_1, i32:x.size(0))
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

extern "C" __global__ void sum_parts(const float* x, float* parts, int rows, int columns) {
  const int row = blockIdx.y * 8 + threadIdx.x / 32;
  if (row >= rows) return;
  const int part_columns = (columns + 3) / 4;
  const int end = min(columns, static_cast<int>(blockIdx.x + 1) * part_columns);
  float sum = 0.0f;
  for (int i = blockIdx.x * part_columns + threadIdx.x % 32; i < end; i += 32) {
    sum += x[static_cast<long long>(row) * columns + i];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) parts[4 * row + blockIdx.x] = sum;
}
extern "C" __global__ void add_parts(const float* parts, float* sums, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) sums[row] = (parts[4 * row] + parts[4 * row + 1]) + (parts[4 * row + 2] + parts[4 * row + 3]);
}
