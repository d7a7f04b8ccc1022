//! fuse linear_1 gelu_1
//! kernel scaled_softmax replaces softmax_1 mul_1 : grid=gelu_1.size(0) block=256 \
//!   args=(gelu_1, scale, mul_1, i32:gelu_1.size(1))
#include <cudal1/reduce.cuh>
// One block a row.
__global__ void scaled_softmax(const float* __restrict__ x, const float* __restrict__ scale, float* __restrict__ y,
                               int columns) {
  const float* row = x + static_cast<long long>(blockIdx.x) * columns;
  float* result = y + static_cast<long long>(blockIdx.x) * columns;
  float largest = cudal1::lowest<float>(), sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 256) largest = cudal1::maximum(largest, row[i]);
  largest = cudal1::block_reduce<cudal1::Max<float>, 256>(largest);  // every thread gets it
  for (int i = threadIdx.x; i < columns; i += 256) sum += expf(row[i] - largest);
  sum = cudal1::block_reduce<cudal1::Sum<float>, 256>(sum);
  for (int i = threadIdx.x; i < columns; i += 256) result[i] = expf(row[i] - largest) / sum * scale[i];
}
