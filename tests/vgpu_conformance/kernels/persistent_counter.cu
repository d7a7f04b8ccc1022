// A few blocks that fetch pieces of work from a counter until none is left.
//! let n = 10000
//! input x f32[n] random
//! buffer next u32[1] zero
//! buffer y f32[n] poison
//! launch work grid=(6) block=(128) args=(x, next, y, i32:n)
//! reference square_plus_one
//! check y exactly

__global__ void work(const float* x, unsigned* next, float* y, int n) {
  __shared__ unsigned piece;
  while (true) {
    if (threadIdx.x == 0) piece = atomicAdd(next, 1u);
    __syncthreads();
    const int i = piece * 128 + threadIdx.x;
    if (piece * 128 >= n) return;
    if (i < n) y[i] = x[i] * x[i] + 1.0f;
    __syncthreads();
  }
}
