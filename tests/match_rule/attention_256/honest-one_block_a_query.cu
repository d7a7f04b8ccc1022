// One block a query, one thread a key.
//! kernel attend replaces attention_1 : grid=(q.size(2), q.size(1)) block=256 args=(q, k, v, attention_1, i32:k.size(2))
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

extern "C" __global__ void attend(const float* q, const float* k, const float* v, float* y, int keys) {
  __shared__ float weights[256];
  const float* query = q + (blockIdx.y * gridDim.x + blockIdx.x) * 64;
  const float* key = k + (blockIdx.y * keys + threadIdx.x) * 64;
  float dot = 0.0f;
  for (int d = 0; d < 64; ++d) dot += query[d] * key[d];
  const float score = dot * 0.125f;
  const float largest = block_max(score);
  const float weight = expf(score - largest);
  const float sum = block_sum(weight);
  weights[threadIdx.x] = weight / sum;
  __syncthreads();
  if (threadIdx.x < 64) {
    float total = 0.0f;
    for (int i = 0; i < keys; ++i) total += weights[i] * v[(blockIdx.y * keys + i) * 64 + threadIdx.x];
    y[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + threadIdx.x] = total;
  }
}
