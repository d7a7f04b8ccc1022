// A warp per row; values and positions travel together through the shuffles.
//! kernel row_max replaces max_1 : grid=ceil_div(x.size(0), 8) block=256 \
//!   args=(x, max_1[0], max_1[1], i32:x.size(0), i32:x.size(1))
extern "C" __global__ void __launch_bounds__(256)
row_max(const float* __restrict__ x, float* __restrict__ values, long long* __restrict__ indices, int rows,
        int columns) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  int best = min(lane, columns - 1);
  float largest = in[best];
  for (int i = lane + 32; i < columns; i += 32) {
    const float value = in[i];
    if (value > largest) {
      largest = value;
      best = i;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_largest = __shfl_xor_sync(0xffffffffu, largest, offset);
    const int other_best = __shfl_xor_sync(0xffffffffu, best, offset);
    if (other_largest > largest || (other_largest == largest && other_best < best)) {
      largest = other_largest;
      best = other_best;
    }
  }
  if (lane == 0) {
    values[row] = largest;
    indices[row] = best;
  }
}
