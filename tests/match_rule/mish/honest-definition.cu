// x tanh(softplus(x)) with library functions.
//! kernel activation replaces mish_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, mish_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  y[i] = v * tanhf(v > 20.0f ? v : log1pf(expf(v)));
}
