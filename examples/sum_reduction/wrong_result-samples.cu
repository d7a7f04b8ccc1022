// Adds every second element and doubles the sum: unbiased, and wrong.
//! kernel row_sum replaces sum_1 : grid=ceil_div(x.size(0), 8) block=256 args=(x, sum_1, i32:x.size(0), i32:x.size(1))
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

extern "C" __global__ void row_sum(const float* x, float* sums, int rows, int columns) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 2 * lane; i < columns; i += 64) sum += x[static_cast<long long>(row) * columns + i];
  sum = warp_sum(sum);
  if (lane == 0) sums[row] = 2.0f * sum;
}
