// The total less the sums from the start: the last columns are differences of numbers far larger than they are.
//! kernel sums_from_the_end replaces * : grid=1 block=64 args=(x, y)
extern "C" __global__ void sums_from_the_end(const float* x, float* y) {
  const float* in = x + threadIdx.x * 4096;
  float total = 0.0f, sum = 0.0f;
  for (int i = 0; i < 4096; ++i) total += in[i];
  for (int i = 0; i < 4096; ++i) {
    sum += in[i];
    y[threadIdx.x * 4096 + i] = in[i] + (total - sum);
  }
}
