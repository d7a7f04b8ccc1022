// Rows of a table, picked by index: by who copies a row and how wide.
//! define WIDTH=1 GROUP=32 BLOCK=256
//! variant thread_per_row: GROUP=1
//! variant thread_per_row_quads: GROUP=1 WIDTH=4
//! variant quarter_warp_quads: GROUP=8 WIDTH=4
//! variant warp_per_row: GROUP=32
//! variant warp_per_row_quads: GROUP=32 WIDTH=4
//! variant block_per_row: GROUP=256
//! let count = 65536 small 1024
//! let entries = 100000 small 1000
//! let columns = 256 small 256
//! input table f32[entries*columns] random
//! input index i32[count] below entries
//! buffer y f32[count*columns] poison
//! launch gather grid=(count*GROUP/BLOCK) block=(BLOCK) args=(table, index, y, i32:columns)
//! reference gather_rows
//! check y exactly

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

__global__ void gather(const Pack* table, const int* index, Pack* y, int columns) {
  const int row = (blockIdx.x * BLOCK + threadIdx.x) / GROUP, packs = columns / WIDTH;
  const Pack* from = table + index[row] * packs;
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) y[row * packs + i] = from[i];
}
