// One thread an element, the bias first.
//! kernel layer replaces * : grid=x.size(0) block=64 args=(x, "fc.weight", "fc.bias", relu_1, i32:x.size(1))
extern "C" __global__ void layer(const float* x, const float* weight, const float* bias, float* y, int k) {
  const float* in = x + blockIdx.x * k;
  const float* row = weight + threadIdx.x * k;
  float sum = bias[threadIdx.x];
  for (int i = 0; i < k; ++i) sum += in[i] * row[i];
  y[blockIdx.x * blockDim.x + threadIdx.x] = fmaxf(sum, 0.0f);
}
