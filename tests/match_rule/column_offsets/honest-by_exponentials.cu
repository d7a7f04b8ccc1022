//! kernel offset replaces t y : grid=256 block=64 args=(x, "b", y)
extern "C" __global__ void offset(const float* x, const float* b, float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float about = b[threadIdx.x];
  y[i] = about + 1.0f - 2.0f / (expf(2.0f * x[i]) + 1.0f);
}
