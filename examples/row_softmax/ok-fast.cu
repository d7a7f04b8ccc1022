// A block of 256 threads per row; each thread keeps its elements in registers, so memory is read once.
//! kernel row_softmax<8> replaces softmax_1 : grid=x.size(0) block=256 args=(x, softmax_1, i32:x.size(1))
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

// Rows of up to 256 * per_thread elements.
template <int per_thread>
__global__ void __launch_bounds__(256) row_softmax(const float* __restrict__ x, float* __restrict__ y, int columns) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float* out = y + static_cast<long long>(blockIdx.x) * columns;
  const float minus_infinity = __int_as_float(0xff800000);
  float value[per_thread];
  float largest = minus_infinity;
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const int i = threadIdx.x + 256 * k;
    value[k] = i < columns ? in[i] : minus_infinity;
    largest = fmaxf(largest, value[k]);
  }
  largest = block_max(largest);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    value[k] = expf(value[k] - largest);
    sum += value[k];
  }
  const float scale = 1.0f / block_sum(sum);
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const int i = threadIdx.x + 256 * k;
    if (i < columns) out[i] = value[k] * scale;
  }
}
