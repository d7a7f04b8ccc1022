// Keeps the even numbers of every piece of 256, in order, and says how many there are.
//! let n = 4096
//! input x i32[n] below 1000
//! buffer y i32[n] zero
//! buffer counts i32[n/256] poison
//! launch compact grid=(n/256) block=(256) args=(x, y, counts)
//! reference compact
//! check y exactly
//! check counts exactly

__global__ void compact(const int* x, int* y, int* counts) {
  __shared__ int kept_before[9];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, own = x[blockIdx.x * 256 + threadIdx.x];
  const bool keep = own % 2 == 0;
  const unsigned kept = __ballot_sync(0xffffffffu, keep);
  if (lane == 0) kept_before[warp + 1] = __popc(kept);
  __syncthreads();
  if (threadIdx.x == 0) {
    kept_before[0] = 0;
    for (int w = 1; w <= 8; ++w) kept_before[w] += kept_before[w - 1];
    counts[blockIdx.x] = kept_before[8];
  }
  __syncthreads();
  const int place = kept_before[warp] + __popc(kept & ((1u << lane) - 1u));
  if (keep) y[blockIdx.x * 256 + place] = own;
}
