// Tiles of tiles with cooperative groups: which tile of its parent a thread is in, handed to a function or not.
//! let n = 2048
//! buffer y i32[4*n] poison
//! launch number grid=(n/128) block=(128) args=(y, i32:n)
//! reference cooperative_nested_tiles
//! check y exactly
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int number_of(const cg::thread_block_tile<8>& tile) {
  return static_cast<int>(tile.meta_group_rank() * 1000 + tile.meta_group_size() * 10 + tile.thread_rank());
}

__global__ void number(int* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto half = cg::tiled_partition<16>(warp);
  const auto eight = cg::tiled_partition<8>(half);
  y[i] = number_of(cg::tiled_partition<8>(cg::this_thread_block()));
  y[i + n] = number_of(cg::tiled_partition<8>(warp));
  y[i + 2 * n] = number_of(eight);
  y[i + 3 * n] = static_cast<int>(half.meta_group_rank() * 1000 + half.meta_group_size() * 10 + half.thread_rank());
}
