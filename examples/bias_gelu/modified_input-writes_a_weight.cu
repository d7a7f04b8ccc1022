// Right results, then the last launch changes one element of the bias.
//! group gelu replaces add_1 gelu_1
//! launch bias_gelu : grid=ceil_div(numel(x), 256) block=256 args=(x, bias, gelu_1, i32:numel(x), i32:x.size(1))
//! launch spoil : grid=1 block=1 args=(bias)
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int count, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float value = x[i] + bias[i % columns];
  y[i] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
}
extern "C" __global__ void spoil(float* bias) { bias[0] = __int_as_float(__float_as_int(bias[0]) ^ 1); }
