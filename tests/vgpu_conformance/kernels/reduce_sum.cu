// Sums of equal parts of a vector, one per block.
//! define BLOCK=256 ITEMS=1 METHOD=3
//! variant divergent_tree: METHOD=0
//! variant conflicting_tree: METHOD=1
//! variant shared_tree: METHOD=2
//! variant shuffles: METHOD=3
//! variant shuffles_8_items: METHOD=3 ITEMS=8
//! variant shuffles_32_items: METHOD=3 ITEMS=32
//! variant shuffles_1024_threads: METHOD=3 BLOCK=1024 ITEMS=8
//! variant atomics_of_warps: METHOD=4
//! let n = 16777216 small 32768
//! let parts = n/(BLOCK*ITEMS)
//! input x f32[n] random
//! buffer sums f32[parts] zero
//! launch sum_parts grid=(parts) block=(BLOCK) args=(x, sums)
//! reference sum_parts
//! check sums relative 1e-5

__device__ float warp_sum(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
  return value;
}

__device__ float tree_sum(float value) {
  __shared__ float partial[BLOCK];
  const unsigned t = threadIdx.x;
  partial[t] = value;
  __syncthreads();
  if (METHOD == 0) {
    for (unsigned step = 1; step < BLOCK; step *= 2, __syncthreads())
      if (t % (2 * step) == 0) partial[t] += partial[t + step];
  } else if (METHOD == 1) {
    for (unsigned step = 1; step < BLOCK; step *= 2, __syncthreads())
      if (2 * step * t < BLOCK) partial[2 * step * t] += partial[2 * step * t + step];
  } else {
    for (unsigned step = BLOCK / 2; step > 0; step /= 2, __syncthreads())
      if (t < step) partial[t] += partial[t + step];
  }
  return partial[0];
}

__device__ float shuffle_sum(float value) {
  __shared__ float partial[32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < BLOCK / 32 ? partial[threadIdx.x % 32] : 0.0f);
}

__global__ void sum_parts(const float* x, float* sums) {
  float sum = 0.0f;
  const float* part = x + blockIdx.x * (BLOCK * ITEMS);
  for (int item = 0; item < ITEMS; ++item) sum += part[item * BLOCK + threadIdx.x];
  if (METHOD == 4) {
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[blockIdx.x], sum);
    return;
  }
  sum = METHOD == 3 ? shuffle_sum(sum) : tree_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
