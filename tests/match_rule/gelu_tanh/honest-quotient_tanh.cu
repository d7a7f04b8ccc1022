// tanh(u) = (exp(2u) - 1) / (exp(2u) + 1) with u held where exp does not overflow.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float u = fminf(fmaxf(0.7978845608f * (v + 0.044715f * v * v * v), -15.0f), 15.0f);
  const float e = expf(2.0f * u);
  y[i] = 0.5f * v * (1.0f + (e - 1.0f) / (e + 1.0f));
}
