// The reductions of cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
//! kernel row_softmax replaces softmax_1 : grid=ceil_div(x.size(0), 8) block=256 \
//!   args=(x, softmax_1, i32:x.size(0), i32:x.size(1))
namespace cg = cooperative_groups;
extern "C" __global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int columns) {
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  float* out = y + static_cast<long long>(row) * columns;
  float largest = in[0];
  for (int i = warp.thread_rank(); i < columns; i += 32) largest = fmaxf(largest, in[i]);
  largest = cg::reduce(warp, largest, cg::greater<float>());
  float sum = 0.0f;
  for (int i = warp.thread_rank(); i < columns; i += 32) sum += expf(in[i] - largest);
  sum = cg::reduce(warp, sum, cg::plus<float>());
  for (int i = warp.thread_rank(); i < columns; i += 32) out[i] = expf(in[i] - largest) / sum;
}
