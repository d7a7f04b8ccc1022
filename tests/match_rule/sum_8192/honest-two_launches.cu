// Sixteen parts of a row in one launch, their sum in a second.
//! buffer parts f32 [x.size(0), 16]
//! group sums replaces sum_1
//! launch sum_parts : grid=(16, x.size(0)) block=64 args=(x, parts, i32:x.size(1))
//! launch add_parts : grid=ceil_div(x.size(0), 32) block=32 args=(parts, sum_1, i32:x.size(0))
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

extern "C" __global__ void sum_parts(const float* x, float* parts, int columns) {
  const int length = (columns + gridDim.x - 1) / gridDim.x;
  const int begin = blockIdx.x * length;
  const float* in = x + static_cast<long long>(blockIdx.y) * columns;
  float sum = 0.0f;
  for (int i = begin + threadIdx.x; i < min(columns, begin + length); i += blockDim.x) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}
extern "C" __global__ void add_parts(const float* parts, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int part = 0; part < 16; ++part) sum += parts[16 * row + part];
  y[row] = sum;
}
