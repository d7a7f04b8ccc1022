// Threads that end before a barrier, whole warps that do, and loops that lanes leave in any order.
//! let n = 1000
//! input x i32[n] below 200
//! buffer y i32[n] zero
//! launch count grid=((n+127)/128) block=(128) args=(x, y, i32:n)
//! reference collatz
//! check y exactly

__global__ void count(const int* x, int* y, int n) {
  __shared__ int first;
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x == 0) first = x[i];
  if (i >= n) return;
  __syncthreads();
  int steps = 0;
  for (long long v = x[i] + 1; v != 1; ++steps) {
    if (steps > 1000) break;
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
  }
  y[i] = steps * 1000 + first;
}
