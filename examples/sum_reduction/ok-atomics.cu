// Blocks add their part of a row by atomics, in whatever order they finish; a first launch sets the sums to zero.
//! group row_sums replaces sum_1
//! launch clear : grid=ceil_div(x.size(0), 256) block=256 args=(sum_1, i32:x.size(0))
//! launch add : grid=(4, x.size(0)) block=64 args=(x, sum_1, i32:x.size(1))
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

extern "C" __global__ void clear(float* sums, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) sums[row] = 0.0f;
}
extern "C" __global__ void add(const float* x, float* sums, int columns) {
  const long long row = blockIdx.y;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < columns; i += gridDim.x * blockDim.x) {
    sum += x[row * columns + i];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(&sums[row], sum);
}
