// x exp(x) / (exp(x) + 1) for negative x.
//! kernel activation replaces silu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, silu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float e = expf(-fabsf(v));
  y[i] = v >= 0.0f ? v * (1.0f / (1.0f + e)) : v * e * (1.0f / (1.0f + e));
}
