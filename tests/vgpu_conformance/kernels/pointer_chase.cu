// Each thread follows a chain through a table: nothing but latency, by number of chains at once and size of the table.
//! define ENTRIES=1048576 BLOCK=256 RESERVED=0
//! variant small_table: ENTRIES=4096
//! variant medium_table: ENTRIES=1048576
//! variant large_table: ENTRIES=33554432
//! variant few_warps: ENTRIES=1048576 RESERVED=45056
//! variant few_warps_small_table: ENTRIES=4096 RESERVED=45056
//! variant small_blocks: ENTRIES=1048576 BLOCK=64
//! let threads = 262144 small 1024
//! let steps = 32
//! let entries = ENTRIES small 4096
//! input next i32[entries] below entries
//! buffer y i32[threads] poison
//! launch chase grid=(threads/BLOCK) block=(BLOCK) shared=RESERVED args=(next, y, i32:steps, i32:entries)
//! reference pointer_chase
//! check y exactly

// RESERVED: bytes of shared memory that nobody uses, so that fewer blocks fit.
__global__ void chase(const int* next, int* y, int steps, int entries) {
  const int thread = blockIdx.x * BLOCK + threadIdx.x;
  int at = static_cast<int>((thread * 2654435761u) % static_cast<unsigned>(entries));
  for (int i = 0; i < steps; ++i) at = next[at];
  y[thread] = at;
}
