// One step of a radix sort: orders pieces of 256 by four bits, keeping the order of equal ones.
//! let n = 4096
//! let piece = 256
//! input x u32[n] random
//! buffer y u32[n] poison
//! launch sort grid=(n/piece) block=(256) args=(x, y, i32:8)
//! reference radix_step
//! check y exactly

// Bit by bit: zeros go first, each to its rank among them.
__device__ int rank_of(bool one, int* zeros_before_warp) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned zeros = __ballot_sync(0xffffffffu, !one);
  if (lane == 0) zeros_before_warp[warp] = __popc(zeros);
  const int all = __syncthreads_count(!one);
  int before = __popc(zeros & ((1u << lane) - 1u));
  for (int w = 0; w < warp; ++w) before += zeros_before_warp[w];
  __syncthreads();
  return one ? all + threadIdx.x - before : before;
}

__global__ void sort(const unsigned* x, unsigned* y, int shift) {
  __shared__ unsigned keys[256];
  __shared__ int counts[8];
  keys[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int bit = shift; bit < shift + 4; ++bit) {
    const unsigned own = keys[threadIdx.x];
    const int rank = rank_of(own >> bit & 1u, counts);
    keys[rank] = own;
    __syncthreads();
  }
  y[blockIdx.x * 256 + threadIdx.x] = keys[threadIdx.x];
}
