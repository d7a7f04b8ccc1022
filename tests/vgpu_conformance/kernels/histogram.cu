// How often each of BINS values occurs: counted in global memory, in shared memory, or in a copy for every warp.
//! define BINS=256 METHOD=1 ITEMS=16 BLOCK=256
//! variant global: METHOD=0
//! variant shared: METHOD=1
//! variant shared_64_items: METHOD=1 ITEMS=64
//! variant shared_few_bins: METHOD=1 BINS=8
//! variant copy_per_warp: METHOD=2
//! variant copy_per_warp_few_bins: METHOD=2 BINS=8
//! let n = 8388608 small 65536
//! input x u32[n] below BINS
//! buffer counts u32[BINS] zero
//! launch histogram grid=(n/(BLOCK*ITEMS)) block=(BLOCK) args=(x, counts)
//! reference histogram
//! check counts exactly

__global__ void histogram(const unsigned* x, unsigned* counts) {
  const unsigned* part = x + blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
  if (METHOD == 0) {
    for (int item = 0; item < ITEMS; ++item) atomicAdd(&counts[part[item * BLOCK]], 1u);
    return;
  }
  constexpr int copies = METHOD == 2 ? BLOCK / 32 : 1;
  __shared__ unsigned own[copies * BINS];
  for (int bin = threadIdx.x; bin < copies * BINS; bin += BLOCK) own[bin] = 0;
  __syncthreads();
  unsigned* mine = own + threadIdx.x / 32 % copies * BINS;
  for (int item = 0; item < ITEMS; ++item) atomicAdd(&mine[part[item * BLOCK]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < BINS; bin += BLOCK) {
    unsigned sum = 0;
    for (int copy = 0; copy < copies; ++copy) sum += own[copy * BINS + bin];
    atomicAdd(&counts[bin], sum);
  }
}
