// The cosine of the angle between rows of two matrices, in float or half.
//! define BLOCK=256 GROUP=32 WIDTH=1 TYPE=f32 SCALAR=float PASSES=1 DEVICES=0
//! variant thread_per_row: GROUP=1
//! variant eight_lanes_quads: GROUP=8 WIDTH=4
//! variant warp_per_row: GROUP=32
//! variant warp_per_row_quads: GROUP=32 WIDTH=4
//! variant warp_three_passes: GROUP=32 PASSES=3
//! variant block_per_row: BLOCK=128 GROUP=128
//! variant half_warp_per_row_eights: GROUP=32 WIDTH=8 TYPE=f16 SCALAR=__half
//! let rows = 16384 small 256
//! let columns = 512 small 256
//! input a TYPE[rows*columns] random
//! input b TYPE[rows*columns] random
//! buffer y f32[rows] poison
//! launch cosine grid=(rows*GROUP/BLOCK) block=(BLOCK) args=(a, b, y, i32:columns)
//! reference cosine_rows
//! check y exactly, reference relative 2e-6
#include <cuda_fp16.h>

struct alignas(sizeof(SCALAR) * WIDTH) Pack {
  SCALAR element[WIDTH];
};

struct Sums {
  float ab, aa, bb;
};

__device__ float over_group(float own) {
  for (int lanes = (GROUP < 32 ? GROUP : 32) / 2; lanes > 0; lanes /= 2)
    own += __shfl_xor_sync(0xffffffffu, own, lanes);
  if (GROUP <= 32) return own;
  __shared__ float partial[BLOCK / 32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  own = 0.0f;
  for (int warp = 0; warp < BLOCK / 32; ++warp) own += partial[warp];
  __syncthreads();
  return own;
}

__device__ float dot(const Pack* a, const Pack* b, int packs) {
  float sum = 0.0f;
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    const Pack left = a[i], right = b[i];
    for (int k = 0; k < WIDTH; ++k) sum = fmaf(float(left.element[k]), float(right.element[k]), sum);
  }
  return over_group(sum);
}

__device__ Sums in_one_pass(const Pack* a, const Pack* b, int packs) {
  Sums sums{};
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    const Pack left = a[i], right = b[i];
    for (int k = 0; k < WIDTH; ++k) {
      const float x = float(left.element[k]), y = float(right.element[k]);
      sums = {fmaf(x, y, sums.ab), fmaf(x, x, sums.aa), fmaf(y, y, sums.bb)};
    }
  }
  return {over_group(sums.ab), over_group(sums.aa), over_group(sums.bb)};
}

__global__ void cosine(const Pack* a, const Pack* b, float* y, int columns) {
  const int row = (blockIdx.x * BLOCK + threadIdx.x) / GROUP, packs = columns / WIDTH;
  a += row * packs;
  b += row * packs;
  const Sums sums =
      PASSES == 1 ? in_one_pass(a, b, packs) : Sums{dot(a, b, packs), dot(a, a, packs), dot(b, b, packs)};
  if (threadIdx.x % GROUP == 0) y[row] = sums.ab / (sqrtf(sums.aa) * sqrtf(sums.bb));
}
