// loss = log(sum of exponentials of a row) - the row's number at its target.
//! define BLOCK=256 GROUP=256 WIDTH=1 METHOD=0 FAST=0 DEVICES=0
//! variant warp_two_passes: GROUP=32
//! variant warp_online: GROUP=32 METHOD=1
//! variant warp_no_maximum_quads_fast: GROUP=32 METHOD=2 WIDTH=4 FAST=1 DEVICES=1e-6
//! variant block_two_passes: GROUP=256
//! variant block_two_passes_quads: GROUP=256 WIDTH=4
//! variant block_online_quads: GROUP=256 WIDTH=4 METHOD=1
//! variant block_1024_two_passes_fast: BLOCK=1024 GROUP=1024 FAST=1 DEVICES=1e-6
//! let rows = 4096 small 64
//! let columns = 8192 small 1024
//! input x f32[rows*columns] between -4 4
//! input target i32[rows] below columns
//! buffer loss f32[rows] poison
//! launch cross_entropy grid=(rows*GROUP/BLOCK) block=(BLOCK) args=(x, target, loss, i32:columns)
//! reference cross_entropy_rows
//! check loss relative DEVICES, reference relative 2e-6

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

__device__ float exponential(float x) { return FAST ? __expf(x) : expf(x); }

struct Largest {
  float value;
};
__device__ Largest joined(Largest a, Largest b) { return {fmaxf(a.value, b.value)}; }
__device__ float joined(float a, float b) { return a + b; }

// A largest value and the sum of exponentials relative to it.
struct Running {
  float largest, sum;
};
__device__ Running joined(Running a, Running b) {
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * exponential(a.largest - largest) + b.sum * exponential(b.largest - largest)};
}

__device__ float shuffled(float value, int lanes) { return __shfl_xor_sync(0xffffffffu, value, lanes); }
__device__ Largest shuffled(Largest own, int lanes) { return {shuffled(own.value, lanes)}; }
__device__ Running shuffled(Running own, int lanes) {
  return {shuffled(own.largest, lanes), shuffled(own.sum, lanes)};
}

template <class T>
__device__ T over_group(T own) {
  for (int lanes = 16; lanes > 0; lanes /= 2) own = joined(own, shuffled(own, lanes));
  if (GROUP == 32) return own;
  __shared__ T partial[BLOCK / 32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  own = partial[0];
  for (int warp = 1; warp < BLOCK / 32; ++warp) own = joined(own, partial[warp]);
  return own;
}

template <class Function>
__device__ void each(const Pack* x, int packs, Function function) {
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    const Pack pack = x[i];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) function(pack.element[k]);
  }
}

__device__ __forceinline__ float log_sum(const Pack* row, int packs) {
  if (METHOD == 1) {
    Running own{-1e30f, 0.0f};
    each(row, packs, [&](float value) { own = joined(own, {value, 1.0f}); });
    own = over_group(own);
    return own.largest + logf(own.sum);
  }
  float largest = 0.0f, sum = 0.0f;
  if (METHOD == 0) {
    largest = -INFINITY;
    each(row, packs, [&](float value) { largest = fmaxf(largest, value); });
    largest = over_group(Largest{largest}).value;
  }
  each(row, packs, [&](float value) { sum += exponential(value - largest); });
  return largest + logf(over_group(sum));
}

__global__ void cross_entropy(const float* x, const int* target, float* loss, int columns) {
  const int row = (blockIdx.x * BLOCK + threadIdx.x) / GROUP;
  x += row * columns;
  const float all = log_sum(reinterpret_cast<const Pack*>(x), columns / WIDTH);
  if (threadIdx.x % GROUP == 0) loss[row] = all - x[target[row]];
}
