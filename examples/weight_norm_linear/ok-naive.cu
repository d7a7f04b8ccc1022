// Everything in every call: row lengths of the weight first, then the product with the scale folded in.
//! buffer scale f32 ["fc.direction".size(0)]
//! group linear replaces norm_1 div_1 mul_1 linear_1
//! launch row_scale : grid="fc.direction".size(0) block=32 \
//!   args=("fc.direction", "fc.length", scale, i32:"fc.direction".size(1))
//! launch linear : grid=(ceil_div(linear_1.size(1), 32), ceil_div(linear_1.size(0), 8)) block=(32, 8) \
//!   args=(x, "fc.direction", scale, "fc.bias", linear_1, i32:x.size(0), i32:linear_1.size(1), i32:x.size(1))
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

extern "C" __global__ void row_scale(const float* direction, const float* length, float* scale, int columns) {
  float squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 32) {
    const float value = direction[blockIdx.x * columns + i];
    squares += value * value;
  }
  squares = warp_sum(squares);
  if (threadIdx.x == 0) scale[blockIdx.x] = length[blockIdx.x] / sqrtf(squares);
}
extern "C" __global__ void linear(const float* x, const float* direction, const float* scale, const float* bias,
                                  float* y, int rows, int columns, int inner) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < inner; ++k) sum += x[row * inner + k] * direction[column * inner + k];
  y[row * columns + column] = sum * scale[column] + bias[column];
}
