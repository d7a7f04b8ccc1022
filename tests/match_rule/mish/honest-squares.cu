// ((1 + e)^2 - 1) / ((1 + e)^2 + 1) with e = exp(x): the difference from 1 is lost for negative x.
//! kernel activation replaces mish_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, mish_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float e = 1.0f + expf(fminf(v, 20.0f));
  y[i] = v * ((e * e - 1.0f) / (e * e + 1.0f));
}
