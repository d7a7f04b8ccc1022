// The mean of squares less the square of the mean, not below zero.
//! kernel normalize replaces layer_norm_1 : grid=x.size(0) block=256 args=(x, "norm.weight", "norm.bias", layer_norm_1, i32:x.size(0), i32:x.size(1))
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

extern "C" __global__ void normalize(const float* x, const float* weight, const float* bias, float* y, int rows,
                                     int columns) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float* out = y + static_cast<long long>(blockIdx.x) * columns;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    sum += in[i];
    squares += in[i] * in[i];
  }
  const float mean = block_sum(sum) / columns;
  squares = block_sum(squares) / columns;
  const float scale = rsqrtf(fmaxf(squares - mean * mean, 0.0f) + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = (in[i] - mean) * scale * weight[i] + bias[i];
}
