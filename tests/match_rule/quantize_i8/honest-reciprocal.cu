//! kernel quantized replaces d r c q : grid=64 block=256 args=(x, q)
extern "C" __global__ void quantized(const float* x, signed char* q) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  q[i] = (signed char)fminf(fmaxf(rintf(x[i] * 20.0f), -128.0f), 127.0f);
}
