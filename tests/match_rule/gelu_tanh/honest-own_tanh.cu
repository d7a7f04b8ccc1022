// tanh(u) = (1 - q) / (1 + q) with q = exp(-2|u|), so that 1 + tanh(u) is 2q / (1 + q) for negative u.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float q = expf(-1.59576912f * fabsf(v + 0.044715f * v * v * v));
  y[i] = v * (v < 0.0f ? q : 1.0f) / (1.0f + q);
}
