// The same with the sums of one warp.
//! kernel normalize replaces group_norm_1 : grid=8 block=32 args=(x, "norm.weight", "norm.bias", group_norm_1)
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// Every thread gets the sum over the block; the block is a whole number of warps.
__device__ float block_sum(float value) {
  __shared__ float warp_sums[32];
  value = warp_sum(value);
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? warp_sums[threadIdx.x % 32] : 0.0f);
}

extern "C" __global__ void normalize(const float* x, const float* weight, const float* bias, float* y) {
  const int length = 8 * 32 * 32, first_channel = blockIdx.x % 4 * 8;
  const float* in = x + blockIdx.x * length;
  float* out = y + blockIdx.x * length;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < length; i += blockDim.x) {
    sum += in[i];
    squares += in[i] * in[i];
  }
  const float mean = block_sum(sum) / length;
  const float scale = rsqrtf(block_sum(squares) / length - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < length; i += blockDim.x)
    out[i] = (in[i] - mean) * scale * weight[first_channel + i / 1024] + bias[first_channel + i / 1024];
}
