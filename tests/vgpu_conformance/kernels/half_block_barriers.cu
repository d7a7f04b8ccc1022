// The two halves of a block work at their own pace: each has a barrier for its 64 threads.
//! let n = 512
//! input x i32[n] below 1000
//! buffer y i32[n] poison
//! launch sum grid=(n/128) block=(128) args=(x, y)
//! reference half_block_sums
//! check y exactly

__global__ void sum(const int* x, int* y) {
  __shared__ int partial[128];
  const int half = threadIdx.x / 64, t = threadIdx.x % 64, i = blockIdx.x * 128 + threadIdx.x;
  int* own = partial + half * 64;
  own[t] = x[i];
  // The second half takes one round more, so that the barriers do not line up.
  for (int step = half ? 64 : 32; step > 0; step /= 2) {
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
    if (t < step && t + step < 64) own[t] += own[t + step];
  }
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  y[i] = own[0];
}
