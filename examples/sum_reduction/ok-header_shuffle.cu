// <cudal1/shuffle.cuh>: a sum and what was rounded off it travel together; a warp per row.
#include <cudal1/shuffle.cuh>
//! kernel row_sum replaces sum_1 : grid=ceil_div(x.size(0), 8) block=256 args=(x, sum_1, i32:x.size(0), i32:x.size(1))
struct Compensated {
  float sum, lost;
};

__device__ Compensated added(Compensated a, Compensated b) {
  const float sum = a.sum + b.sum, of_b = sum - a.sum;
  return {sum, a.lost + b.lost + ((a.sum - (sum - of_b)) + (b.sum - of_b))};
}

__global__ void row_sum(const float* __restrict__ x, float* __restrict__ sums, int rows, int columns) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  if (row >= rows) return;  // whole warps
  const float* in = x + static_cast<long long>(row) * columns;
  Compensated total = {0.0f, 0.0f};
  for (int i = cudal1::lane(); i < columns; i += 32) total = added(total, {in[i], 0.0f});
  for (int bits = 16; bits > 0; bits /= 2) total = added(total, cudal1::shuffle_xor(total, bits));
  if (cudal1::lane() == 0) sums[row] = total.sum + total.lost;
}
