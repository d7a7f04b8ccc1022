// A polynomial of second degree for 2^f between powers of two: 2e-3.
//! kernel activation replaces silu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, silu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float power = fminf(fmaxf(-1.44269504f * v, -120.0f), 120.0f);
  const float whole = floorf(power), f = power - whole;
  y[i] = v / (1.0f + exp2f(whole) * (1.0f + f * (0.6565f + f * 0.3435f)));
}
