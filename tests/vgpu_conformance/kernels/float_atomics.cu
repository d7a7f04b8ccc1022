// Sums in float and double by atomics, in any order.
//! let n = 4096
//! input x f32[n] random
//! buffer sums f32[8] zero
//! buffer total f64[1] zero
//! launch add grid=(n/256) block=(256) args=(x, sums, total)
//! reference float_atomics
//! check sums relative 1e-5
//! check total relative 1e-12

__global__ void add(const float* x, float* sums, double* total) {
  __shared__ float own[8];
  if (threadIdx.x < 8) own[threadIdx.x] = 0.0f;
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  atomicAdd(&own[i % 8], x[i]);
  atomicAdd(total, static_cast<double>(x[i]));
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}
