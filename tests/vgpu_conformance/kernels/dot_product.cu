// Dot products of pairs of vectors, a block each, by type and width.
//! define TYPE=f32 WIDTH=1 BLOCK=256
//! variant single: TYPE=f32
//! variant single_quads: TYPE=f32 WIDTH=4
//! variant half: TYPE=f16
//! variant half_pairs: TYPE=f16 WIDTH=2
//! variant half_eights: TYPE=f16 WIDTH=8
//! variant bfloat: TYPE=bf16
//! variant bfloat_eights: TYPE=bf16 WIDTH=8
//! let rows = 2048 small 16
//! let columns = 8192 small 4096
//! input a TYPE[rows*columns] between -1 1
//! input b TYPE[rows*columns] between -1 1
//! buffer y f32[rows] poison
//! launch dot grid=(rows) block=(BLOCK) args=(a, b, y, i32:columns)
//! reference row_dots
//! check y exactly, reference relative 1e-5
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using f32 = float;
using f16 = __half;
using bf16 = __nv_bfloat16;

struct alignas(sizeof(TYPE) * WIDTH) Pack {
  TYPE element[WIDTH];
};

__global__ void dot(const TYPE* a, const TYPE* b, float* y, int columns) {
  a += blockIdx.x * columns;
  b += blockIdx.x * columns;
  float sum = 0.0f;
  for (int i = threadIdx.x * WIDTH; i < columns; i += BLOCK * WIDTH) {
    const Pack left = *reinterpret_cast<const Pack*>(a + i), right = *reinterpret_cast<const Pack*>(b + i);
    for (int k = 0; k < WIDTH; ++k)
      sum = fmaf(static_cast<float>(left.element[k]), static_cast<float>(right.element[k]), sum);
  }
  __shared__ float partial[BLOCK];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int step = BLOCK / 2; step > 0; step /= 2, __syncthreads())
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}
