//! kernel offset replaces t y : grid=256 block=64 args=(x, "b", y)
extern "C" __global__ void offset(const float* x, const float* b, float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float about = b[threadIdx.x];
  y[i] = tanhf(x[i]) + about;
}
