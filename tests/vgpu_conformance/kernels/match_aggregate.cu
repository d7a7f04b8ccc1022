// Counts keys: lanes with the same key find each other by match, and one of them adds for all.
//! let n = 4096
//! let BINS = 16
//! input x u32[n] below BINS
//! buffer counts u32[BINS] zero
//! buffer uniform u32[n/32] poison
//! launch count grid=(n/128) block=(128) args=(x, counts, uniform)
//! reference match_aggregate
//! check counts exactly
//! check uniform exactly

__global__ void count(const unsigned* x, unsigned* counts, unsigned* uniform) {
  const int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 32;
  const unsigned same = __match_any_sync(0xffffffffu, x[i]);
  if (lane == __ffs(same) - 1) atomicAdd(&counts[x[i]], static_cast<unsigned>(__popc(same)));
  int all = 0;
  const unsigned lanes = __match_all_sync(0xffffffffu, i / 64, &all);
  if (lane == 0) uniform[i / 32] = all ? lanes : 0u;
}
