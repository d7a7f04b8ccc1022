// Prefix sums inside runs that begin where a flag is set, by shuffles within a warp.
//! let n = 4096
//! input x i32[n] below 100
//! input flags i32[n] below 3
//! buffer y i32[n] poison
//! launch scan grid=(n/256) block=(256) args=(x, flags, y)
//! reference scan_segments
//! check y exactly

// A run begins at lane 0 and at every flag that is 0.
__global__ void scan(const int* x, const int* flags, int* y) {
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32;
  const unsigned begins = __ballot_sync(0xffffffffu, flags[i] == 0) | 1u;
  const unsigned before = begins & (0xffffffffu >> (31 - lane));
  const int first = 31 - __clz(before);
  int sum = x[i];
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane - step >= first) sum += other;
  }
  y[i] = sum;
}
