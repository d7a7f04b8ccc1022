//! kernel scores replaces kt s y : grid=128 block=128 args=(q, k, mask, y)
extern "C" __global__ void scores(const float* q, const float* k, const bool* mask, float* y) {
  const int row = blockIdx.x, column = threadIdx.x;
  const auto rounded = [](float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); };
  float sum = 0.0f;
  for (int i = 0; i < 64; ++i) sum += rounded(q[row * 64 + i]) * rounded(k[column * 64 + i]);
  y[row * 128 + column] = mask[row * 128 + column] ? -1e9f : sum;
}
