// Welford's update in every lane, merged by shuffles.
//! kernel reduce replaces * : grid=x.size(0) block=32 args=(x, var_1, i32:x.size(1))
extern "C" __global__ void reduce(const float* x, float* y, int columns) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float count = 0.0f, mean = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 32) {
    count += 1.0f;
    const float difference = in[i] - mean;
    mean += difference / count;
    squares += difference * (in[i] - mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_count = __shfl_xor_sync(0xffffffffu, count, offset);
    const float other_mean = __shfl_xor_sync(0xffffffffu, mean, offset);
    const float other_squares = __shfl_xor_sync(0xffffffffu, squares, offset);
    const float total = count + other_count;
    const float difference = other_mean - mean;
    mean += difference * other_count / total;
    squares += other_squares + difference * difference * count * other_count / total;
    count = total;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = squares / (columns - 1);
}
