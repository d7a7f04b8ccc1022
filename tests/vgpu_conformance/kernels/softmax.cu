// Softmax of every row: by a thread, a warp or a block; in three passes or online.
//! define BLOCK=256 METHOD=1 FAST=0 ULPS=0 ROWS_PER_BLOCK=1
//! variant thread_per_row: METHOD=0 BLOCK=64 ROWS_PER_BLOCK=64
//! variant warp_per_row: METHOD=1 ROWS_PER_BLOCK=8
//! variant warp_per_row_fast: METHOD=1 ROWS_PER_BLOCK=8 FAST=1 ULPS=16
//! variant warp_per_row_online: METHOD=2 ROWS_PER_BLOCK=8
//! variant block_per_row: METHOD=3
//! variant block_per_row_128: METHOD=3 BLOCK=128
//! variant block_per_row_1024: METHOD=3 BLOCK=1024
//! variant block_per_row_online: METHOD=4
//! let rows = 8192 small 64
//! let columns = 1024 small 200
//! input x f32[rows*columns] between -4 4
//! buffer y f32[rows*columns] poison
//! launch softmax grid=(rows/ROWS_PER_BLOCK) block=(BLOCK) args=(x, y, i32:columns)
//! reference softmax
//! check y within ULPS ulp, reference relative 2e-6

__device__ float exponential(float x) { return FAST ? __expf(x) : expf(x); }

// A largest value and the sum of exponentials relative to it.
struct Running {
  float largest, sum;
};

__device__ Running joined(Running a, Running b) {
  const float largest = fmaxf(a.largest, b.largest);
  if (largest == -INFINITY) return a;
  return {largest, a.sum * exponential(a.largest - largest) + b.sum * exponential(b.largest - largest)};
}

__device__ Running shuffled(Running own, int lanes) {
  return {__shfl_xor_sync(0xffffffffu, own.largest, lanes), __shfl_xor_sync(0xffffffffu, own.sum, lanes)};
}

// Over all threads of the group: one thread, a warp, or the block.
template <int group>
__device__ Running over_group(Running own) {
  if (group == 1) return own;
  for (int lanes = 16; lanes > 0; lanes /= 2) own = joined(own, shuffled(own, lanes));
  if (group <= 32) return own;
  __shared__ Running partial[32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  own = partial[0];
  for (int warp = 1; warp < BLOCK / 32; ++warp) own = joined(own, partial[warp]);
  __syncthreads();
  return own;
}

template <int group>
__device__ void three_passes(const float* x, float* y, int columns, int first) {
  float largest = -INFINITY, sum = 0.0f;
  for (int i = first; i < columns; i += group) largest = fmaxf(largest, x[i]);
  largest = over_group<group>({largest, 0.0f}).largest;
  for (int i = first; i < columns; i += group) sum += exponential(x[i] - largest);
  sum = over_group<group>({largest, sum}).sum;
  for (int i = first; i < columns; i += group) y[i] = exponential(x[i] - largest) / sum;
}

template <int group>
__device__ void online(const float* x, float* y, int columns, int first) {
  Running own{-INFINITY, 0.0f};
  for (int i = first; i < columns; i += group) own = joined(own, {x[i], 1.0f});
  own = over_group<group>(own);
  for (int i = first; i < columns; i += group) y[i] = exponential(x[i] - own.largest) / own.sum;
}

__global__ void softmax(const float* x, float* y, int columns) {
  const int thread = blockIdx.x * BLOCK + threadIdx.x;
  const long long row = METHOD == 0 ? thread : METHOD <= 2 ? thread / 32 : blockIdx.x;
  x += row * columns;
  y += row * columns;
  if (METHOD == 0) three_passes<1>(x, y, columns, 0);
  if (METHOD == 1) three_passes<32>(x, y, columns, threadIdx.x % 32);
  if (METHOD == 2) online<32>(x, y, columns, threadIdx.x % 32);
  if (METHOD == 3) three_passes<BLOCK>(x, y, columns, threadIdx.x);
  if (METHOD == 4) online<BLOCK>(x, y, columns, threadIdx.x);
}
