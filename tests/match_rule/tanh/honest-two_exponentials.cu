// The definition, with the argument held where exp does not overflow.
//! kernel activation replaces tanh_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, tanh_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float u = fminf(fmaxf(v, -15.0f), 15.0f);
  const float a = expf(u), b = expf(-u);
  y[i] = (a - b) / (a + b);
}
