// <cudal1/async_copy.cuh>: the row comes to shared memory past the registers, 4 elements at a time (a multiple of 4).
#include <cudal1/async_copy.cuh>
#include <cudal1/reduce.cuh>
//! kernel row_softmax replaces softmax_1 : grid=x.size(0) block=256 shared=4*x.size(1) \
//!   args=(x, softmax_1, i32:x.size(1))
using Online = cudal1::LogSumExp<float>;

__global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int columns) {
  extern __shared__ __align__(16) float row[];
  const long long start = static_cast<long long>(blockIdx.x) * columns;
  for (int i = 4 * threadIdx.x; i < columns; i += 4 * 256) cudal1::copy_async<16>(row + i, x + start + i);
  cudal1::close_copies();
  cudal1::wait_for_copies<0>();  // this thread's are there,
  __syncthreads();               // and so are everybody's
  Online::Value seen = Online::identity();
  for (int i = threadIdx.x; i < columns; i += 256) seen = Online::add(seen, row[i]);
  seen = cudal1::block_reduce<Online, 256>(seen);
  for (int i = threadIdx.x; i < columns; i += 256) y[start + i] = expf(row[i] - seen.maximum) / seen.sum;
}
