// Adds numbers to places given by an index: by how many places there are, and whether lanes that agree add first.
//! define PLACES=65536 METHOD=0
//! variant many_places: PLACES=1048576
//! variant some_places: PLACES=65536
//! variant few_places: PLACES=256
//! variant a_warp_of_places: PLACES=32
//! variant some_places_pairs_first: PLACES=65536 METHOD=1
//! variant few_places_pairs_first: PLACES=256 METHOD=1
//! let n = 2097152 small 16384
//! input x i32[n] below 100
//! input index i32[n] below PLACES
//! buffer sums i32[PLACES] zero
//! launch scatter grid=(n/256) block=(256) args=(x, index, sums)
//! reference scatter_add
//! check sums exactly

// METHOD 1: neighbours with the same place add up in pairs first.
__global__ void scatter(const int* x, const int* index, int* sums) {
  const int i = blockIdx.x * 256 + threadIdx.x, place = index[i];
  int value = x[i];
  if (METHOD == 1) {
    const int other_place = __shfl_xor_sync(0xffffffffu, place, 1), other = __shfl_xor_sync(0xffffffffu, value, 1);
    if (other_place == place) {
      if (threadIdx.x % 2 == 1) return;
      value += other;
    }
  }
  atomicAdd(&sums[place], value);
}
