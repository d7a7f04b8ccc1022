// y = silu(gate) * up, where gate and up are the halves of a row or take turns in it, in float or half.
//! define BLOCK=256 WIDTH=1 TYPE=f32 SCALAR=float INTERLEAVED=0 FAST=0 DEVICES=0 APART=2e-6
//! variant halves: WIDTH=1
//! variant halves_quads: WIDTH=4
//! variant halves_quads_fast: WIDTH=4 FAST=1 DEVICES=2e-6
//! variant in_turns: INTERLEAVED=1
//! variant in_turns_pairs: INTERLEAVED=1 WIDTH=2
//! variant half_halves: TYPE=f16 SCALAR=__half APART=1e-3
//! variant half_halves_eights: TYPE=f16 SCALAR=__half WIDTH=8 APART=1e-3
//! let rows = 4096 small 8
//! let columns = 2048
//! input x TYPE[2*rows*columns] between -4 4
//! buffer y TYPE[rows*columns] poison
//! launch swiglu grid=(columns/(BLOCK*WIDTH),rows) block=(BLOCK) args=(x, y, i32:columns)
//! reference swiglu
//! check y relative DEVICES, reference relative APART
#include <cuda_fp16.h>

template <int width>
struct alignas(sizeof(SCALAR) * width) Pack {
  SCALAR element[width];
};

__device__ float gated(float gate, float up) {
  const float sigmoid = FAST ? __fdividef(1.0f, 1.0f + __expf(-gate)) : 1.0f / (1.0f + expf(-gate));
  return gate * sigmoid * up;
}

__device__ Pack<WIDTH> from_halves(const SCALAR* row, int column, int columns) {
  const auto gate = *reinterpret_cast<const Pack<WIDTH>*>(row + column);
  const auto up = *reinterpret_cast<const Pack<WIDTH>*>(row + columns + column);
  Pack<WIDTH> out;
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) out.element[k] = SCALAR(gated(float(gate.element[k]), float(up.element[k])));
  return out;
}

__device__ Pack<WIDTH> from_turns(const SCALAR* row, int column) {
  const auto both = *reinterpret_cast<const Pack<2 * WIDTH>*>(row + 2 * column);
  Pack<WIDTH> out;
#pragma unroll
  for (int k = 0; k < WIDTH; ++k)
    out.element[k] = SCALAR(gated(float(both.element[2 * k]), float(both.element[2 * k + 1])));
  return out;
}

__global__ void swiglu(const SCALAR* x, SCALAR* y, int columns) {
  const int column = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
  const SCALAR* row = x + 2 * blockIdx.y * columns;
  *reinterpret_cast<Pack<WIDTH>*>(y + blockIdx.y * columns + column) =
      INTERLEAVED ? from_turns(row, column) : from_halves(row, column, columns);
}
