// 64x64 tiles, 4x4 results per thread: every value read from shared memory is used four times.
//! kernel matmul replaces mm_1 : grid=(ceil_div(b.size(1), 64), ceil_div(a.size(0), 64)) block=256 \
//!   args=(a, b, mm_1, i32:a.size(0), i32:b.size(1), i32:a.size(1))
extern "C" __global__ void __launch_bounds__(256)
matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int rows, int columns,
       int inner) {
  __shared__ float a_tile[16][64 + 4];  // transposed: [k][row]; padded so that the transposing stores spread over banks
  __shared__ float b_tile[16][64];      // [k][column]
  const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  const int thread_row = 4 * (threadIdx.x / 16), thread_column = 4 * (threadIdx.x % 16);
  float sum[4][4] = {};
  for (int first = 0; first < inner; first += 16) {
    for (int i = threadIdx.x; i < 64 * 16; i += 256) {
      const int row = first_row + i / 16, k = first + i % 16;
      a_tile[i % 16][i / 16] = row < rows && k < inner ? a[row * inner + k] : 0.0f;
    }
    for (int i = threadIdx.x; i < 16 * 64; i += 256) {
      const int k = first + i / 64, column = first_column + i % 64;
      b_tile[i / 64][i % 64] = k < inner && column < columns ? b[k * columns + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float left[4], right[4];
      for (int i = 0; i < 4; ++i) left[i] = a_tile[k][thread_row + i];
      for (int j = 0; j < 4; ++j) right[j] = b_tile[k][thread_column + j];
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = first_row + thread_row + i, column = first_column + thread_column + j;
      if (row < rows && column < columns) c[row * columns + column] = sum[i][j];
    }
  }
}
