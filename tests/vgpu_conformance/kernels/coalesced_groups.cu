// The threads that took a branch together number themselves and add once for all.
//! let n = 2048
//! input x i32[n] below 10
//! buffer count u32[1] zero
//! buffer y u32[n] zero
//! launch pick grid=(n/128) block=(128) args=(x, count, y)
//! reference coalesced_groups
//! check count exactly
//! check y exactly
#include <cooperative_groups.h>

__global__ void pick(const int* x, unsigned* count, unsigned* y) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (x[i] % 3 == 0) {
    const auto group = cooperative_groups::coalesced_threads();
    if (group.thread_rank() == 0) atomicAdd(count, group.size());
    y[i] = group.thread_rank() + 100 * group.size();
  }
}
