//! kernel scores replaces kt s y : grid=128 block=128 args=(q, k, mask, y)
extern "C" __global__ void scores(const float* q, const float* k, const bool* mask, float* y) {
  const int row = blockIdx.x, column = threadIdx.x;
  float sums[4] = {};
  for (int i = 0; i < 64; ++i) sums[i % 4] += q[row * 64 + i] * k[column * 64 + i];
  const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  y[row * 128 + column] = mask[row * 128 + column] ? -1e9f : sum;
}
