//! kernel normalize replaces * : grid=128 block=256 args=(x, bias, y)
__device__ float block_sum(float value, float* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = shared[0];
  __syncthreads();
  return sum;
}

extern "C" __global__ void normalize(const float* x, const float* bias, float* y) {
  __shared__ float shared[256];
  const float* in = x + blockIdx.x * 900;
  const float shift = bias[blockIdx.x % 16];
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < 900; i += 256) sum += in[i] + shift;
  const float mean = block_sum(sum, shared) / 900.0f;
  for (int i = threadIdx.x; i < 900; i += 256) squares += (in[i] + shift - mean) * (in[i] + shift - mean);
  const float scale = rsqrtf(block_sum(squares, shared) / 900.0f + 1e-5f);
  for (int i = threadIdx.x; i < 900; i += 256) y[blockIdx.x * 900 + i] = (in[i] + shift - mean) * scale;
}
