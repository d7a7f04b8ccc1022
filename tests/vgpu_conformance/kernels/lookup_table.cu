// A table of 64 numbers looked up at every step: in local, shared, constant or global memory, or in registers of a warp.
//! define METHOD=0
//! variant local: METHOD=0
//! variant shared: METHOD=1
//! variant constant_spread: METHOD=2
//! variant constant_same: METHOD=3
//! variant global: METHOD=4
//! variant shuffles: METHOD=5
//! let n = 1048576 small 4096
//! let rounds = 64 small 32
//! input table u32[64] random
//! buffer y u32[n] poison
//! launch look_up grid=(n/256) block=(256) args=(table, y, i32:rounds)
//! reference lookup_table
//! check y exactly

__constant__ unsigned squares[64] = {
    0,    1,    4,    9,    16,   25,   36,   49,   64,   81,   100,  121,  144,  169,  196,  225,
    256,  289,  324,  361,  400,  441,  484,  529,  576,  625,  676,  729,  784,  841,  900,  961,
    1024, 1089, 1156, 1225, 1296, 1369, 1444, 1521, 1600, 1681, 1764, 1849, 1936, 2025, 2116, 2209,
    2304, 2401, 2500, 2601, 2704, 2809, 2916, 3025, 3136, 3249, 3364, 3481, 3600, 3721, 3844, 3969};

__global__ void look_up(const unsigned* table, unsigned* y, int rounds) {
  __shared__ unsigned shared_copy[64];
  unsigned local_copy[64];
  if (METHOD == 0)
    for (int i = 0; i < 64; ++i) local_copy[i] = table[i];
  if (METHOD == 1 && threadIdx.x < 64) shared_copy[threadIdx.x] = table[threadIdx.x];
  const unsigned lower = table[threadIdx.x % 32], upper = table[threadIdx.x % 32 + 32];
  __syncthreads();
  const unsigned thread = blockIdx.x * 256 + threadIdx.x;
  unsigned sum = thread;
  for (int round = 0; round < rounds; ++round) {
    const unsigned at = METHOD == 3 ? (round * 7) % 64 : (thread * 5 + round * 7) % 64;
    unsigned found;
    if (METHOD == 0) found = local_copy[at];
    if (METHOD == 1) found = shared_copy[at];
    if (METHOD == 2 || METHOD == 3) found = squares[at];
    if (METHOD == 4) found = table[at];
    if (METHOD == 5) {
      const unsigned a = __shfl_sync(0xffffffffu, lower, at), b = __shfl_sync(0xffffffffu, upper, at);
      found = at < 32 ? a : b;
    }
    sum = sum * 31u + found;
  }
  y[thread] = sum;
}
