// Two warps produce and two consume through two buffers, each pair waiting at named barriers of its own.
//! let rounds = 8
//! let n = rounds*64
//! input x i32[n] below 1000
//! buffer y i32[n] poison
//! launch pipe grid=(1) block=(128) args=(x, y, i32:rounds)
//! reference doubled_reversed
//! check y exactly

// Of 128 threads, 64 wait and 64 only arrive: full barriers are 1 and 2, empty ones 3 and 4.
template <int id>
__device__ void wait() {
  asm volatile("bar.sync %0, 128;" ::"n"(id) : "memory");
}
template <int id>
__device__ void arrive() {
  asm volatile("bar.arrive %0, 128;" ::"n"(id) : "memory");
}

__global__ void pipe(const int* x, int* y, int rounds) {
  __shared__ int slots[2][64];
  const int t = threadIdx.x % 64;
  const bool producer = threadIdx.x < 64;
  for (int round = 0; round < rounds; round += 2) {
    if (producer) {
      if (round > 0) wait<3>();
      slots[0][t] = 2 * x[round * 64 + t];
      __threadfence_block();
      arrive<1>();
      if (round > 0) wait<4>();
      slots[1][t] = 2 * x[(round + 1) * 64 + t];
      __threadfence_block();
      arrive<2>();
    } else {
      wait<1>();
      y[round * 64 + t] = slots[0][63 - t];
      if (round + 2 < rounds) arrive<3>();
      wait<2>();
      y[(round + 1) * 64 + t] = slots[1][63 - t];
      if (round + 2 < rounds) arrive<4>();
    }
  }
}
