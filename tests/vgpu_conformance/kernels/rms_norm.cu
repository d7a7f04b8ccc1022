// Each row divided by its root mean square; a block per row, by type and width of accesses.
//! define ERROR=1e-6 TYPE=f32 WIDTH=1 BLOCK=256
//! variant single: TYPE=f32
//! variant single_quads: TYPE=f32 WIDTH=4
//! variant single_quads_64: TYPE=f32 WIDTH=4 BLOCK=64
//! variant half: ERROR=1e-3 TYPE=f16
//! variant half_pairs: ERROR=1e-3 TYPE=f16 WIDTH=2
//! variant half_eights: ERROR=1e-3 TYPE=f16 WIDTH=8 BLOCK=128
//! let rows = 8192 small 16
//! let columns = 2048 small 1024
//! input x TYPE[rows*columns] between -2 2
//! input scale f32[columns] random
//! buffer y TYPE[rows*columns] poison
//! launch rms_norm grid=(rows) block=(BLOCK) args=(x, scale, y, i32:columns)
//! reference rms_norm
//! check y within 8 ulp, reference relative ERROR
#include <cuda_fp16.h>

using f32 = float;
using f16 = __half;

struct alignas(sizeof(TYPE) * WIDTH) Pack {
  TYPE element[WIDTH];
};

__device__ float block_sum(float value) {
  __shared__ float partial[BLOCK / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < BLOCK / 32; ++warp) sum += partial[warp];
  return sum;
}

__global__ void rms_norm(const TYPE* x, const float* scale, TYPE* y, int columns) {
  const Pack* from = reinterpret_cast<const Pack*>(x + blockIdx.x * columns);
  Pack* to = reinterpret_cast<Pack*>(y + blockIdx.x * columns);
  float squares = 0.0f;
  for (int i = threadIdx.x; i < columns / WIDTH; i += BLOCK) {
    const Pack pack = from[i];
    for (int k = 0; k < WIDTH; ++k) squares = fmaf(pack.element[k], pack.element[k], squares);
  }
  const float factor = rsqrtf(block_sum(squares) / columns + 1e-6f);
  for (int i = threadIdx.x; i < columns / WIDTH; i += BLOCK) {
    Pack pack = from[i];
    for (int k = 0; k < WIDTH; ++k)
      pack.element[k] = static_cast<TYPE>(static_cast<float>(pack.element[k]) * factor * scale[i * WIDTH + k]);
    to[i] = pack;
  }
}
