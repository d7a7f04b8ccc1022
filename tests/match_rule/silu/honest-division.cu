// x / (1 + exp(-x)).
//! kernel activation replaces silu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, silu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  y[i] = v / (1.0f + expf(-v));
}
