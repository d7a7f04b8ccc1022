// Sums in bfloat16 by atomics, which are compare-and-swap loops before sm_90; few small whole numbers, exact.
//! let n = 512
//! input x bf16[n] below 2
//! buffer sums bf16[16] zero
//! launch add grid=(n/128) block=(128) args=(x, sums)
//! reference bf16_atomics
//! check sums exactly
#include <cuda_bf16.h>

__global__ void add(const __nv_bfloat16* x, __nv_bfloat16* sums) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  atomicAdd(&sums[i % 16], x[i]);
}
