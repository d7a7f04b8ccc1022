// Adds the row sums onto scratch that it never set to zero (the word `zero` is missing in the buffer line).
//! buffer row_sums f32 [x.size(0)]
//! group softmax replaces softmax_1
//! launch exponentials : grid=x.size(0) block=256 args=(x, softmax_1, row_sums, i32:x.size(1))
//! launch divide : grid=x.size(0) block=256 args=(softmax_1, row_sums, i32:x.size(1))
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

__device__ float warp_max(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

// Every thread gets the maximum over the block; the block is a whole number of warps.
__device__ float block_max(float value) {
  __shared__ float warp_maxima[32];
  value = warp_max(value);
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % 32 == 0) warp_maxima[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_max(warp_maxima[threadIdx.x % 32 < blockDim.x / 32 ? threadIdx.x % 32 : 0]);
}

extern "C" __global__ void exponentials(const float* x, float* y, float* row_sums, int columns) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float* out = y + static_cast<long long>(blockIdx.x) * columns;
  float largest = in[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, in[i]);
  largest = block_max(largest);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    out[i] = expf(in[i] - largest);
    sum += out[i];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(&row_sums[blockIdx.x], sum);
}
extern "C" __global__ void divide(float* y, const float* row_sums, int columns) {
  float* out = y + static_cast<long long>(blockIdx.x) * columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] /= row_sums[blockIdx.x];
}
