// tanh(u) = 1 - 2 / (exp(2u) + 1), put into the definition.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float u = 0.79788456f * (v + 0.044715f * v * v * v);
  const float t = 1.0f - 2.0f / (expf(2.0f * u) + 1.0f);
  y[i] = 0.5f * v * (1.0f + t);
}
