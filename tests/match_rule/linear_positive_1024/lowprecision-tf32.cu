// Rounds both operands to TF32.
//! kernel layer replaces * : grid=x.size(0) block=64 args=(x, "fc.weight", "fc.bias", relu_1, i32:x.size(1))
__device__ float round_to_tf32(float value) {
  const unsigned bits = __float_as_uint(value);
  return __uint_as_float((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

extern "C" __global__ void layer(const float* x, const float* weight, const float* bias, float* y, int k) {
  const float* in = x + blockIdx.x * k;
  const float* row = weight + threadIdx.x * k;
  float sum = bias[threadIdx.x];
  for (int i = 0; i < k; ++i) sum += round_to_tf32(in[i]) * round_to_tf32(row[i]);
  y[blockIdx.x * blockDim.x + threadIdx.x] = fmaxf(sum, 0.0f);
}
