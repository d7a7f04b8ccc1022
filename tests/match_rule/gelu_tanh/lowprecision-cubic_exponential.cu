// A polynomial of third degree for 2^f between powers of two: 1e-4.
//! kernel activation replaces gelu_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, gelu_1, i32:numel(x))
extern "C" __global__ void activation(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  const float power = fminf(fmaxf(-2.30220819f * (v + 0.044715f * v * v * v), -120.0f), 120.0f);
  const float whole = floorf(power), f = power - whole;
  const float q = exp2f(whole) * (1.0f + f * (0.695556856f + f * (0.226173572f + f * 0.0781455737f)));
  y[i] = v / (1.0f + q);
}
