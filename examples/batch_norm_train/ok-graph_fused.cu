// One kernel for everything, state included, as a CUDA Graph: a block per column, statistics in two passes.
//! kernel batch_norm replaces batch_norm_1 relu_1 : grid=x.size(1) block=256 \
//!   args=(x, "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var", relu_1, i32:x.size(0), i32:x.size(1))
//! graph
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

extern "C" __global__ void batch_norm(const float* x, const float* weight, const float* bias, float* running_mean,
                                      float* running_var, float* y, int rows, int columns) {
  const float momentum = 0.1f, epsilon = 1e-5f;
  const int column = blockIdx.x;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < rows; i += blockDim.x) sum += x[i * columns + column];
  const float mean = block_sum(sum) / rows;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < rows; i += blockDim.x) {
    const float difference = x[i * columns + column] - mean;
    squares += difference * difference;
  }
  const float variance = block_sum(squares) / rows;
  const float scale = rsqrtf(variance + epsilon);
  for (int i = threadIdx.x; i < rows; i += blockDim.x) {
    const float value = (x[i * columns + column] - mean) * scale * weight[column] + bias[column];
    y[i * columns + column] = value < 0.0f ? 0.0f : value;
  }
  if (threadIdx.x != 0) return;
  running_mean[column] = (1.0f - momentum) * running_mean[column] + momentum * mean;
  running_var[column] = (1.0f - momentum) * running_var[column] + momentum * variance * rows / (rows - 1);
}
