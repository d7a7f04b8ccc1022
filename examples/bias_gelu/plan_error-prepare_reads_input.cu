// Tries to do a call's work in `prepare`, which only weights may reach.
//! buffer ready f32 [x.size(0), x.size(1)]
//! prepare bias_gelu : grid=ceil_div(numel(x), 256) block=256 args=(x, bias, ready, i32:numel(x), i32:x.size(1))
//! kernel copy replaces add_1 gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(ready, gelu_1, i32:numel(x))
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int count, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float value = x[i] + bias[i % columns];
  y[i] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
}
extern "C" __global__ void copy(const float* from, float* to, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}
