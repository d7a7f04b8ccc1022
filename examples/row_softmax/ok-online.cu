// Maximum and sum in one pass: the running sum is rescaled whenever the maximum grows.
//! kernel row_softmax replaces softmax_1 : grid=ceil_div(x.size(0), 8) block=256 \
//!   args=(x, softmax_1, i32:x.size(0), i32:x.size(1))
//! graph
extern "C" __global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int columns) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  float* out = y + static_cast<long long>(row) * columns;
  float largest = in[lane % columns];
  float sum = 0.0f;
  for (int i = lane; i < columns; i += 32) {
    const float grown = fmaxf(largest, in[i]);
    sum = sum * expf(largest - grown) + expf(in[i] - grown);
    largest = grown;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_largest = __shfl_xor_sync(0xffffffffu, largest, offset);
    const float other_sum = __shfl_xor_sync(0xffffffffu, sum, offset);
    const float grown = fmaxf(largest, other_largest);
    sum = sum * expf(largest - grown) + other_sum * expf(other_largest - grown);
    largest = grown;
  }
  for (int i = lane; i < columns; i += 32) out[i] = expf(in[i] - largest) / sum;
}
