// Four accumulators, the bias last.
//! kernel layer replaces * : grid=x.size(0) block=64 args=(x, "fc.weight", "fc.bias", relu_1, i32:x.size(1))
extern "C" __global__ void layer(const float* x, const float* weight, const float* bias, float* y, int k) {
  const float* in = x + blockIdx.x * k;
  const float* row = weight + threadIdx.x * k;
  float parts[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int i = 0; i < k; i += 4)
    for (int j = 0; j < 4; ++j) parts[j] = fmaf(in[i + j], row[i + j], parts[j]);
  const float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]) + bias[threadIdx.x];
  y[blockIdx.x * blockDim.x + threadIdx.x] = fmaxf(sum, 0.0f);
}
