// <cudal1/reduce.cuh>: softmax of a row that stays in registers. Rows of at most 1024 elements, a multiple of 4.
#include <cudal1/reduce.cuh>
#include <cudal1/vector.cuh>
//! kernel row_softmax replaces softmax_1 : grid=x.size(0) block=256 args=(x, softmax_1, i32:x.size(1))
__global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int columns) {
  const int i = 4 * threadIdx.x;
  const long long at = static_cast<long long>(blockIdx.x) * columns + i;
  auto v = i < columns ? cudal1::load<4>(x + at) : cudal1::filled<4>(cudal1::lowest<float>());
  float largest = v[0], sum = 0.0f;
  for (int k = 1; k < 4; ++k) largest = cudal1::maximum(largest, v[k]);
  largest = cudal1::block_reduce<cudal1::Max<float>, 256>(largest);  // every thread gets it
  for (int k = 0; k < 4; ++k) sum += v[k] = expf(v[k] - largest);
  sum = cudal1::block_reduce<cudal1::Sum<float>, 256>(sum);
  for (int k = 0; k < 4; ++k) v[k] /= sum;
  if (i < columns) cudal1::store(y + at, v);
}
