// Maximum and sum in one pass.
//! kernel reduce replaces * : grid=x.size(0) block=32 args=(x, softmax_1, i32:x.size(1))
extern "C" __global__ void reduce(const float* x, float* y, int columns) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float* out = y + static_cast<long long>(blockIdx.x) * columns;
  float largest = in[threadIdx.x], sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 32) {
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
  for (int i = threadIdx.x; i < columns; i += 32) out[i] = expf(in[i] - largest) / sum;
}
