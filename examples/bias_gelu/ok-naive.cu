// One thread per element; both nodes in one kernel.
//! kernel bias_gelu replaces add_1 gelu_1 : grid=ceil_div(numel(x), 256) block=256 \
//!   args=(x, "bias", gelu_1, i32:numel(x), i32:x.size(1))
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int count, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float value = x[i] + bias[i % columns];
  y[i] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
}
