// y = A x, by who has a row.
//! define BLOCK=256 METHOD=1 WIDTH=1 ROWS_PER_BLOCK=1
//! variant thread_per_row: METHOD=0 ROWS_PER_BLOCK=256
//! variant warp_per_row: METHOD=1 ROWS_PER_BLOCK=8
//! variant warp_per_row_quads: METHOD=1 ROWS_PER_BLOCK=8 WIDTH=4
//! variant block_per_row: METHOD=2
//! variant block_per_row_quads: METHOD=2 WIDTH=4
//! variant small_block_per_row: METHOD=2 BLOCK=64
//! let rows = 4096 small 256
//! let columns = 4096 small 512
//! input a f32[rows*columns] random
//! input x f32[columns] random
//! buffer y f32[rows] poison
//! launch matvec grid=(rows/ROWS_PER_BLOCK) block=(BLOCK) args=(a, x, y, i32:columns)
//! reference matvec
//! check y exactly, reference relative 1e-5

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

__device__ float part_of_dot(const float* row, const float* x, int columns, int first, int step) {
  float sum = 0.0f;
  for (int i = first * WIDTH; i < columns; i += step * WIDTH) {
    const Pack left = *reinterpret_cast<const Pack*>(row + i), right = *reinterpret_cast<const Pack*>(x + i);
    for (int k = 0; k < WIDTH; ++k) sum = fmaf(left.element[k], right.element[k], sum);
  }
  return sum;
}

__device__ float warp_sum(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
  return value;
}

__global__ void matvec(const float* a, const float* x, float* y, int columns) {
  const int thread = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % 32;
  if (METHOD == 0) {
    y[thread] = part_of_dot(a + thread * columns, x, columns, 0, 1);
  } else if (METHOD == 1) {
    const int row = thread / 32;
    const float sum = warp_sum(part_of_dot(a + row * columns, x, columns, lane, 32));
    if (lane == 0) y[row] = sum;
  } else {
    __shared__ float partial[BLOCK / 32];
    const float sum = warp_sum(part_of_dot(a + blockIdx.x * columns, x, columns, threadIdx.x, BLOCK));
    if (lane == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const float total = warp_sum(lane < BLOCK / 32 ? partial[lane] : 0.0f);
    if (lane == 0) y[blockIdx.x] = total;
  }
}
