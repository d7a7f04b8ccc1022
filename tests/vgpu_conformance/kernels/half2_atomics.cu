// Sums of pairs by atomics; the numbers are small and whole, so that every order gives the same.
//! let n = 2048
//! input x f16[2*n] below 3
//! buffer sums f16[16] zero
//! launch add grid=(n/256) block=(256) args=(x, sums)
//! reference half2_atomics
//! check sums exactly
#include <cuda_fp16.h>

__global__ void add(const __half2* x, __half2* sums) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  atomicAdd(&sums[i % 8], x[i]);
}
