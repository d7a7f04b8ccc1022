// Rounds of smoothing in one launch: all blocks wait for each other at a counter between rounds.
//! let n = 1024
//! let rounds = 4
//! buffer x f32[n] random
//! buffer y f32[n] poison
//! buffer arrived u32[1] zero
//! launch smooth grid=(n/128) block=(128) args=(x, y, arrived, i32:n, i32:rounds)
//! reference smooth
//! check x exactly

__device__ void wait_for_all(unsigned* arrived, unsigned target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < target) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();
}

__global__ void smooth(volatile float* x, volatile float* y, unsigned* arrived, int n, int rounds) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned target = 0;
  for (int round = 0; round < rounds; ++round) {
    const float left = x[i > 0 ? i - 1 : 0], right = x[i < n - 1 ? i + 1 : n - 1];
    y[i] = (left + x[i] + right) * 0.25f;
    wait_for_all(arrived, target += gridDim.x);
    x[i] = y[i];
    wait_for_all(arrived, target += gridDim.x);
  }
}
