//! kernel quantized replaces d r c q : grid=64 block=256 args=(x, q)
// Clamps first, and leaves the rounding to the conversion.
extern "C" __global__ void quantized(const float* x, signed char* q) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  q[i] = (signed char)__float2int_rn(fminf(fmaxf(x[i] / 0.05f, -128.0f), 127.0f));
}
