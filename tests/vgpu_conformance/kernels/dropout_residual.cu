// y = residual + x / 0.75 where a hash of the element's number keeps it; some also store which ones they kept.
//! define BLOCK=256 WIDTH=1 HASH=two_rounds TYPE=f32 SCALAR=float STORE=0 STRIDE=0 BLOCKS=1056 ROUNDS=2 APART=1e-6
//! variant scalar: WIDTH=1
//! variant quads: WIDTH=4
//! variant quads_ten_rounds: WIDTH=4 HASH=ten_rounds ROUNDS=10
//! variant scalar_stored_mask: STORE=1
//! variant quads_stored_mask: STORE=1 WIDTH=4
//! variant grid_stride: STRIDE=1
//! variant half_eights: TYPE=f16 SCALAR=__half WIDTH=8 APART=1e-3
//! let n = 16777216 small 65536
//! input x TYPE[n] random
//! input residual TYPE[n] random
//! buffer y TYPE[n] poison
//! buffer kept u8[n] zero
//! launch drop grid=(n/(BLOCK*WIDTH)) block=(BLOCK) args=(x, residual, y, kept, i32:n) when=1-STRIDE
//! launch drop grid=(BLOCKS) block=(BLOCK) args=(x, residual, y, kept, i32:n) when=STRIDE
//! reference dropout_residual
//! check y exactly, reference relative APART
//! check kept exactly
#include <cuda_fp16.h>

template <class T>
struct alignas(sizeof(T) * WIDTH) Pack {
  T element[WIDTH];
};

template <int rounds>
__device__ unsigned hashed(unsigned x) {
#pragma unroll
  for (int round = 0; round < rounds; ++round) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu + round;
  }
  return x ^ x >> 16;
}
__device__ unsigned two_rounds(unsigned x) { return hashed<2>(x); }
__device__ unsigned ten_rounds(unsigned x) { return hashed<10>(x); }

__global__ void drop(const Pack<SCALAR>* x, const Pack<SCALAR>* residual, Pack<SCALAR>* y, Pack<unsigned char>* kept,
                     int n) {
  const int step = gridDim.x * BLOCK;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n / WIDTH; i += step) {
    const Pack<SCALAR> from = x[i], other = residual[i];
    Pack<SCALAR> to;
    Pack<unsigned char> mask;
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
      mask.element[k] = HASH(i * WIDTH + k) >= 0x40000000u;
      const float factor = mask.element[k] ? 1.0f / 0.75f : 0.0f;
      to.element[k] = SCALAR(float(other.element[k]) + float(from.element[k]) * factor);
    }
    y[i] = to;
    if (STORE) kept[i] = mask;
    if (!STRIDE) return;
  }
}
