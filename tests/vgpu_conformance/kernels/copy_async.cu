// Copies on their way while the block computes: pieces of 4, 8 and 16 bytes, two groups, zeros at the end.
//! let n = 4096
//! input x i32[n] below 1000
//! buffer y i32[n] poison
//! launch through grid=(4) block=(64) args=(x, y, i32:n)
//! reference pieces_reversed
//! check y exactly
#include <cuda_pipeline.h>

constexpr int piece = 256;

__device__ void fetch(int* slot, const int* from) {
  const int t = threadIdx.x;
  if (t < 32)
    __pipeline_memcpy_async(slot + 4 * t, from + 4 * t, 16);
  else
    __pipeline_memcpy_async(slot + 128 + 2 * (t - 32), from + 128 + 2 * (t - 32), 8);
  // The last 64 words: the second of every two is not copied but zero.
  __pipeline_memcpy_async(slot + 192 + t, from + 192 + t, 4, t % 2 ? 4 : 0);
  __pipeline_commit();
}

__global__ void through(const int* x, int* y, int n) {
  __shared__ __align__(16) int slots[2][piece];
  const int pieces = n / piece, step = gridDim.x;
  int now = 0;
  fetch(slots[0], x + blockIdx.x * piece);
  for (int p = blockIdx.x; p < pieces; p += step, now = 1 - now) {
    if (p + step < pieces) {
      fetch(slots[1 - now], x + (p + step) * piece);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < piece; i += 64) y[p * piece + i] = slots[now][piece - 1 - i];
    __syncthreads();
  }
}
