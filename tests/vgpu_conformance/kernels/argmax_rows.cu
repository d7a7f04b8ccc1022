// Where the largest number of every row stands, the first of equals.
//! define BLOCK=256 GROUP=32 WIDTH=1 TREE=0 KEYS=0
//! variant eight_lanes_per_row: GROUP=8
//! variant warp_per_row: GROUP=32
//! variant warp_per_row_quads: GROUP=32 WIDTH=4
//! variant warp_per_row_keys: GROUP=32 KEYS=1
//! variant block_per_row: GROUP=256
//! variant block_per_row_quads_128: BLOCK=128 GROUP=128 WIDTH=4
//! variant block_per_row_tree: GROUP=256 TREE=1
//! let rows = 8192 small 128
//! let columns = 2048 small 512
//! input x f32[rows*columns] below 1000
//! buffer index i32[rows] poison
//! launch argmax grid=(rows*GROUP/BLOCK) block=(BLOCK) args=(x, index, i32:columns)
//! reference argmax_rows
//! check index exactly

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

#if KEYS
// One number that orders by value, then by place: larger floats have larger keys.
using Best = unsigned long long;
__device__ Best best_of(float value, int index) {
  const unsigned bits = __float_as_uint(value), ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<Best>(ordered) << 32 | static_cast<unsigned>(~index);
}
__device__ Best better(Best a, Best b) { return a > b ? a : b; }
__device__ int index_of(Best best) { return ~static_cast<unsigned>(best); }
__device__ Best shuffled(Best own, int lanes) { return __shfl_xor_sync(0xffffffffu, own, lanes); }
#else
struct Best {
  float value;
  int index;
};
__device__ Best best_of(float value, int index) { return {value, index}; }
__device__ Best better(Best a, Best b) {
  return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
}
__device__ int index_of(Best best) { return best.index; }
__device__ Best shuffled(Best own, int lanes) {
  return {__shfl_xor_sync(0xffffffffu, own.value, lanes), __shfl_xor_sync(0xffffffffu, own.index, lanes)};
}
#endif

__device__ Best by_tree(Best own) {
  __shared__ Best all[BLOCK];
  all[threadIdx.x] = own;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x] = better(all[threadIdx.x], all[threadIdx.x + half]);
  }
  return all[0];  // of use to thread 0, which wrote it last
}

__device__ Best by_shuffles(Best own) {
  for (int lanes = (GROUP < 32 ? GROUP : 32) / 2; lanes > 0; lanes /= 2) own = better(own, shuffled(own, lanes));
  if (GROUP <= 32) return own;
  __shared__ Best partial[BLOCK / 32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  for (int warp = 0; warp < BLOCK / 32; ++warp) own = better(own, partial[warp]);
  return own;
}

__global__ void argmax(const Pack* x, int* index, int columns) {
  const int row = (blockIdx.x * BLOCK + threadIdx.x) / GROUP, packs = columns / WIDTH;
  Best own = best_of(-INFINITY, 0);
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    const Pack pack = x[row * packs + i];
    for (int k = 0; k < WIDTH; ++k) own = better(own, best_of(pack.element[k], i * WIDTH + k));
  }
  own = TREE ? by_tree(own) : by_shuffles(own);
  if (threadIdx.x % GROUP == 0) index[row] = index_of(own);
}
