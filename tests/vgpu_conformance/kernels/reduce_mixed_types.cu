// Sums of warps in double and in 64-bit integers: shuffles of 8 bytes.
//! let n = 4096
//! input x f64[n] random
//! input k i64[n] random
//! buffer sums f64[n/32] poison
//! buffer totals i64[n/32] poison
//! launch sum grid=(n/128) block=(128) args=(x, k, sums, totals)
//! reference sum_warps
//! check sums exactly, reference relative 1e-14
//! check totals exactly

template <class T>
__device__ T warp_sum(T value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
  return value;
}

__global__ void sum(const double* x, const long long* k, double* sums, long long* totals) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const double real = warp_sum(x[i]);
  const long long whole = warp_sum(k[i]);
  if (i % 32 == 0) {
    sums[i / 32] = real;
    totals[i / 32] = whole;
  }
}
