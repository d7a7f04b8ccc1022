// Functions that call themselves: Fibonacci numbers and greatest common divisors.
//! let n = 256
//! input x i32[n] below 100000
//! buffer y i32[n] poison
//! launch recurse grid=(n/64) block=(64) args=(x, y)
//! reference recursion
//! check y exactly

__noinline__ __device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__noinline__ __device__ int divisor(int a, int b) { return b == 0 ? a : divisor(b, a % b); }

__global__ void recurse(const int* x, int* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = fibonacci(i % 10) + divisor(x[i], 5040);
}
