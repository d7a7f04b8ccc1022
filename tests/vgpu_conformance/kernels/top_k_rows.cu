// The K largest numbers of every row and where they stand, in falling order.
//! define BLOCK=128 K=4 METHOD=0 ROWS_PER_BLOCK=1
//! variant thread_per_row: METHOD=0 BLOCK=64 ROWS_PER_BLOCK=64
//! variant warp_lists: METHOD=1 ROWS_PER_BLOCK=4
//! variant warp_lists_of_8: METHOD=1 ROWS_PER_BLOCK=4 K=8
//! variant warp_rounds: METHOD=2 ROWS_PER_BLOCK=4
//! variant block_rounds_in_shared: METHOD=3
//! variant block_rounds_in_shared_512: METHOD=3 BLOCK=512
//! let rows = 8192 small 128
//! let columns = 1024 small 256
//! input x f32[rows*columns] below 1000
//! buffer value f32[rows*K] poison
//! buffer index i32[rows*K] poison
//! launch top_k grid=(rows/ROWS_PER_BLOCK) block=(BLOCK) shared=METHOD/3*columns*4 args=(x, value, index, i32:columns)
//! reference top_k_rows
//! check value exactly
//! check index exactly

struct Entry {
  float value;
  int index;
};

__device__ bool before(Entry a, Entry b) { return a.value > b.value || (a.value == b.value && a.index < b.index); }

struct List {
  Entry entries[K];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < K; ++i) entries[i] = {-INFINITY, 0x7fffffff};
  }
  // Everything stays in registers: each place takes the better of two and hands the other on.
  __device__ void insert(Entry entry) {
    if (!before(entry, entries[K - 1])) return;
#pragma unroll
    for (int i = 0; i < K; ++i)
      if (before(entry, entries[i])) {
        const Entry other = entries[i];
        entries[i] = entry;
        entry = other;
      }
  }
  __device__ void drop_first() {
#pragma unroll
    for (int i = 0; i + 1 < K; ++i) entries[i] = entries[i + 1];
    entries[K - 1] = {-INFINITY, 0x7fffffff};
  }
};

__device__ Entry best_of_warp(Entry own) {
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const Entry other{__shfl_xor_sync(0xffffffffu, own.value, lanes), __shfl_xor_sync(0xffffffffu, own.index, lanes)};
    if (before(other, own)) own = other;
  }
  return own;
}

__device__ Entry best_of_block(Entry own) {
  __shared__ Entry partial[BLOCK / 32];
  own = best_of_warp(own);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  for (int warp = 0; warp < BLOCK / 32; ++warp)
    if (before(partial[warp], own)) own = partial[warp];
  __syncthreads();
  return own;
}

__device__ Entry best_after(const float* row, int columns, Entry last, int first, int step) {
  Entry own{-INFINITY, 0x7fffffff};
  for (int i = first; i < columns; i += step) {
    const Entry entry{row[i], i};
    if (before(last, entry) && before(entry, own)) own = entry;
  }
  return own;
}

// A list for every lane, whose heads compete.
__device__ __forceinline__ void by_lists(const float* row, int columns, Entry* found) {
  List list;
  list.clear();
  for (int i = threadIdx.x % 32; i < columns; i += 32) list.insert({row[i], i});
#pragma unroll
  for (int k = 0; k < K; ++k) {
    found[k] = best_of_warp(list.entries[0]);
    if (found[k].index == list.entries[0].index) list.drop_first();
  }
}

__device__ __forceinline__ void by_thread(const float* row, int columns, Entry* found) {
  List list;
  list.clear();
  for (int i = 0; i < columns; ++i) list.insert({row[i], i});
#pragma unroll
  for (int k = 0; k < K; ++k) found[k] = list.entries[k];
}

__global__ void top_k(const float* x, float* value, int* index, int columns) {
  extern __shared__ float kept[];
  const int thread = blockIdx.x * BLOCK + threadIdx.x;
  const int row = METHOD == 0 ? thread : METHOD <= 2 ? thread / 32 : blockIdx.x;
  x += row * columns;
  if (METHOD == 3) {
    for (int i = threadIdx.x; i < columns; i += BLOCK) kept[i] = x[i];
    __syncthreads();
  }
  Entry found[K], last{INFINITY, -1};
  if (METHOD == 0) by_thread(x, columns, found);
  if (METHOD == 1) by_lists(x, columns, found);
  if (METHOD >= 2)
#pragma unroll
    for (int k = 0; k < K; ++k)
      found[k] = last = METHOD == 2 ? best_of_warp(best_after(x, columns, last, threadIdx.x % 32, 32))
                                    : best_of_block(best_after(kept, columns, last, threadIdx.x, BLOCK));
  if (METHOD != 0 && threadIdx.x % (METHOD == 3 ? BLOCK : 32) != 0) return;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    value[row * K + k] = found[k].value;
    index[row * K + k] = found[k].index;
  }
}
