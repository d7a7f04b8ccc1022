// Sums of tiles of 4, 8 and 16 threads with cooperative groups.
//! let n = 2048
//! input x i32[n] below 1000
//! buffer y i32[3*n] poison
//! launch sum grid=(n/128) block=(128) args=(x, y, i32:n)
//! reference cooperative_tiles
//! check y exactly
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

template <unsigned size>
__device__ int tile_sum(int value) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  return cg::reduce(tile, value, cg::plus<int>()) + static_cast<int>(tile.thread_rank());
}

__global__ void sum(const int* x, int* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  y[i] = tile_sum<4>(x[i]);
  y[i + n] = tile_sum<8>(x[i]);
  y[i + 2 * n] = tile_sum<16>(x[i]);
}
