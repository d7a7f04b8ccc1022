// What a warp says about its lanes: all, any, which; and what a block says: count, and, or.
//! let n = 2048
//! input x i32[n] below 40
//! buffer warps u32[3*n/32] poison
//! buffer blocks i32[3*n/256] poison
//! launch vote grid=(n/256) block=(256) args=(x, warps, blocks)
//! reference votes
//! check warps exactly
//! check blocks exactly

__global__ void vote(const int* x, unsigned* warps, int* blocks) {
  const int i = blockIdx.x * 256 + threadIdx.x, warp = i / 32;
  const int all = __all_sync(0xffffffffu, x[i] < 38), any = __any_sync(0xffffffffu, x[i] == 39);
  const unsigned which = __ballot_sync(0xffffffffu, x[i] > 20);
  if (threadIdx.x % 32 == 0) {
    warps[3 * warp] = all;
    warps[3 * warp + 1] = any;
    warps[3 * warp + 2] = which;
  }
  const int count = __syncthreads_count(x[i] > 20), every = __syncthreads_and(x[i] < 39);
  const int some = __syncthreads_or(x[i] == 7);
  if (threadIdx.x == 0) {
    blocks[3 * blockIdx.x] = count;
    blocks[3 * blockIdx.x + 1] = every != 0;
    blocks[3 * blockIdx.x + 2] = some != 0;
  }
}
