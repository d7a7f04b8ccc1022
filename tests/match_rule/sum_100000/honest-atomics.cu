// Every block adds its part by an atomic, in any order.
//! group sums replaces sum_1
//! launch clear : grid=1 block=256 args=(sum_1, i32:x.size(0))
//! launch add : grid=(32, x.size(0)) block=128 args=(x, sum_1, i32:x.size(1))
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

extern "C" __global__ void clear(float* y, int rows) {
  for (int row = threadIdx.x; row < rows; row += blockDim.x) y[row] = 0.0f;
}
extern "C" __global__ void add(const float* x, float* y, int columns) {
  const long long first = static_cast<long long>(blockIdx.y) * columns;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < columns; i += gridDim.x * blockDim.x) sum += x[first + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(&y[blockIdx.y], sum);
}
