// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2) with e = exp(x).
//! kernel activation replaces mish_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, mish_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float e = expf(fminf(v, 20.0f));
  const float n = e * (e + 2.0f);
  y[i] = v * (n / (n + 2.0f));
}
