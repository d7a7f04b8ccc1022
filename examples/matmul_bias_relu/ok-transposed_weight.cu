// `prepare` transposes the weight once, so that neighbouring threads read neighbouring words of it.
//! buffer transposed f32 ["fc.weight".size(1), "fc.weight".size(0)]
//! prepare transpose : grid=(ceil_div("fc.weight".size(1), 32), ceil_div("fc.weight".size(0), 8)) block=(32, 8) \
//!   args=("fc.weight", transposed, i32:"fc.weight".size(0), i32:"fc.weight".size(1))
//! kernel linear_relu replaces linear_1 relu_1 : grid=(ceil_div(relu_1.size(1), 32), ceil_div(relu_1.size(0), 8)) \
//!   block=(32, 8) args=(x, transposed, "fc.bias", relu_1, i32:x.size(0), i32:relu_1.size(1), i32:x.size(1))
extern "C" __global__ void transpose(const float* from, float* to, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) to[column * rows + row] = from[row * columns + column];
}
extern "C" __global__ void linear_relu(const float* __restrict__ x, const float* __restrict__ weight,
                                       const float* __restrict__ bias, float* __restrict__ y, int rows, int columns,
                                       int inner) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
#pragma unroll 8
  for (int k = 0; k < inner; ++k) sum += x[row * inner + k] * weight[k * columns + column];
  y[row * columns + column] = fmaxf(sum + bias[column], 0.0f);
}
