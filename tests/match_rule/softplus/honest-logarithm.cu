// log(1 + exp(x)), and x itself beyond 20.
//! kernel activation replaces softplus_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, softplus_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  y[i] = v > 20.0f ? v : logf(1.0f + expf(v));
}
