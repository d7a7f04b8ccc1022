// Both operands through shared tiles of [k][row]; 4x4 results per thread; bias and ReLU on the way out.
//! kernel linear_relu replaces linear_1 relu_1 : grid=(ceil_div(relu_1.size(1), 64), ceil_div(relu_1.size(0), 64)) \
//!   block=256 args=(x, "fc.weight", "fc.bias", relu_1, i32:x.size(0), i32:relu_1.size(1), i32:x.size(1))
__device__ void load_tile(float (&tile)[16][68], const float* from, int first_row, int rows, int first, int inner) {
  for (int i = threadIdx.x; i < 64 * 16; i += 256) {
    const int row = first_row + i / 16, k = first + i % 16;
    tile[i % 16][i / 16] = row < rows && k < inner ? from[row * inner + k] : 0.0f;
  }
}
extern "C" __global__ void __launch_bounds__(256)
linear_relu(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
            float* __restrict__ y, int rows, int columns, int inner) {
  __shared__ float x_tile[16][68];
  __shared__ float weight_tile[16][68];
  const int thread_row = 4 * (threadIdx.x / 16), thread_column = 4 * (threadIdx.x % 16);
  float sum[4][4] = {};
  for (int first = 0; first < inner; first += 16) {
    load_tile(x_tile, x, blockIdx.y * 64, rows, first, inner);
    load_tile(weight_tile, weight, blockIdx.x * 64, columns, first, inner);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sum[i][j] += x_tile[k][thread_row + i] * weight_tile[k][thread_column + j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = blockIdx.y * 64 + thread_row + i, column = blockIdx.x * 64 + thread_column + j;
      if (row < rows && column < columns) y[row * columns + column] = fmaxf(sum[i][j] + bias[column], 0.0f);
    }
  }
}
