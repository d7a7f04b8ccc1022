// Running sums along every row, or down every column.
//! define BLOCK=256 METHOD=1 ITEMS=1 ROWS_PER_BLOCK=1 DOWN=0
//! variant thread_per_row: METHOD=0 BLOCK=64 ROWS_PER_BLOCK=64
//! variant warp_per_row: METHOD=1 ROWS_PER_BLOCK=8
//! variant warp_per_row_quads: METHOD=1 ITEMS=4 ROWS_PER_BLOCK=8
//! variant block_steps_in_shared: METHOD=2 BLOCK=1024
//! variant block_of_warps_1024: METHOD=3 BLOCK=1024
//! variant block_of_warps_quads: METHOD=3 ITEMS=4 BLOCK=256
//! variant down_columns: METHOD=4 BLOCK=64 ROWS_PER_BLOCK=64 DOWN=1
//! let rows = 8192 small 128
//! let columns = 1024
//! input x f32[rows*columns] random
//! buffer y f32[rows*columns] poison
//! launch accumulate grid=(rows/ROWS_PER_BLOCK) block=(BLOCK) args=(x, y, i32:columns, i32:rows)
//! reference cumulative_sum_rows
//! check y exactly, reference relative 2e-5

struct alignas(4 * ITEMS) Pack {
  float element[ITEMS];
};

__device__ float warp_scan(float value) {
  const int lane = threadIdx.x % 32;
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const float below = __shfl_up_sync(0xffffffffu, value, lanes);
    if (lane >= lanes) value += below;
  }
  return value;
}

// Sums inside a pack; its last is the pack's total.
__device__ Pack summed(Pack pack) {
  for (int k = 1; k < ITEMS; ++k) pack.element[k] += pack.element[k - 1];
  return pack;
}

__device__ Pack plus(Pack pack, float before) {
  for (int k = 0; k < ITEMS; ++k) pack.element[k] += before;
  return pack;
}

__device__ void along_warp(const Pack* x, Pack* y, int packs) {
  float before = 0.0f;
  for (int i = threadIdx.x % 32; i < packs; i += 32) {
    const Pack own = summed(x[i]);
    const float upto = warp_scan(own.element[ITEMS - 1]);
    y[i] = plus(own, before + upto - own.element[ITEMS - 1]);
    before += __shfl_sync(0xffffffffu, upto, 31);
  }
}

// A number a thread; every step adds what stands twice as far away.
__device__ void steps_in_shared(const float* x, float* y) {
  __shared__ float sums[2][BLOCK];
  int from = 0;
  sums[0][threadIdx.x] = x[threadIdx.x];
  for (int apart = 1; apart < BLOCK; apart *= 2) {
    __syncthreads();
    sums[1 - from][threadIdx.x] =
        sums[from][threadIdx.x] + (threadIdx.x >= apart ? sums[from][threadIdx.x - apart] : 0.0f);
    from = 1 - from;
  }
  y[threadIdx.x] = sums[from][threadIdx.x];
}

__device__ void warps_of_block(const Pack* x, Pack* y) {
  __shared__ float totals[32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Pack own = summed(x[threadIdx.x]);
  const float upto = warp_scan(own.element[ITEMS - 1]);
  if (lane == 31) totals[warp] = upto;
  __syncthreads();
  if (warp == 0) {
    const float scanned = warp_scan(lane < BLOCK / 32 ? totals[lane] : 0.0f);
    if (lane < BLOCK / 32) totals[lane] = scanned;
  }
  __syncthreads();
  y[threadIdx.x] = plus(own, (warp > 0 ? totals[warp - 1] : 0.0f) + upto - own.element[ITEMS - 1]);
}

__device__ void alone(const float* x, float* y, int count, int step) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) y[i * step] = sum += x[i * step];
}

__global__ void accumulate(const float* x, float* y, int columns, int rows) {
  const int thread = blockIdx.x * BLOCK + threadIdx.x;
  const int row = METHOD == 0 ? thread : METHOD == 1 ? thread / 32 : blockIdx.x;
  if (METHOD == 4) return alone(x + thread, y + thread, columns, rows);  // (columns, rows): the other way round
  x += row * columns;
  y += row * columns;
  if (METHOD == 0) alone(x, y, columns, 1);
  if (METHOD == 1) along_warp(reinterpret_cast<const Pack*>(x), reinterpret_cast<Pack*>(y), columns / ITEMS);
  if (METHOD == 2) steps_in_shared(x, y);
  if (METHOD == 3) warps_of_block(reinterpret_cast<const Pack*>(x), reinterpret_cast<Pack*>(y));
}
