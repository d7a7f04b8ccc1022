// The scaled weight depends on weights alone: `prepare` computes it, transposed, and a call is one tiled product.
//! buffer scaled f32 ["fc.direction".size(1), "fc.direction".size(0)]
//! prepare scale_and_transpose : grid="fc.direction".size(0) block=128 \
//!   args=("fc.direction", "fc.length", scaled, i32:"fc.direction".size(0), i32:"fc.direction".size(1))
//! kernel linear<32> replaces * : grid=(ceil_div(linear_1.size(1), 32), ceil_div(linear_1.size(0), 32)) \
//!   block=(32, 32) args=(x, scaled, "fc.bias", linear_1, i32:x.size(0), i32:linear_1.size(1), i32:x.size(1))
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

extern "C" __global__ void scale_and_transpose(const float* direction, const float* length, float* scaled, int rows,
                                               int columns) {
  float squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float value = direction[blockIdx.x * columns + i];
    squares += value * value;
  }
  const float scale = length[blockIdx.x] / sqrtf(block_sum(squares));
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    scaled[i * rows + blockIdx.x] = direction[blockIdx.x * columns + i] * scale;
  }
}
template <int side>
__global__ void linear(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                       float* __restrict__ y, int rows, int columns, int inner) {
  __shared__ float x_tile[side][side];
  __shared__ float weight_tile[side][side];
  const int row = blockIdx.y * side + threadIdx.y;
  const int column = blockIdx.x * side + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < inner; first += side) {
    const int k_of_x = first + threadIdx.x;
    const int k_of_weight = first + threadIdx.y;
    x_tile[threadIdx.y][threadIdx.x] = row < rows && k_of_x < inner ? x[row * inner + k_of_x] : 0.0f;
    weight_tile[threadIdx.y][threadIdx.x] =
        k_of_weight < inner && column < columns ? weight[k_of_weight * columns + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < side; ++k) sum += x_tile[threadIdx.y][k] * weight_tile[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) y[row * columns + column] = sum + bias[column];
}
