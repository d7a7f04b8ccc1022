// A rational approximation.
//! kernel activation replaces tanh_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, tanh_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float u = fminf(fmaxf(v, -4.97f), 4.97f), s = u * u;
  y[i] = u * (135135.0f + s * (17325.0f + s * (378.0f + s))) / (135135.0f + s * (62370.0f + s * (3150.0f + s * 28.0f)));
}
