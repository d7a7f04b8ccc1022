// A step of Adam: parameters and two moments, which are float or bfloat16.
//! define BLOCK=256 WIDTH=1 ITEMS=1 MOMENT=f32 STORED=float FAST=0 DEVICES=0 APART=2e-6 MOMENTS_APART=1e-6
//! variant scalar: WIDTH=1
//! variant quads: WIDTH=4
//! variant quads_fast: WIDTH=4 FAST=1 DEVICES=1e-6
//! variant eight_apart: ITEMS=8
//! variant pairs_block_1024: WIDTH=2 BLOCK=1024
//! variant bfloat_moments: MOMENT=bf16 STORED=__nv_bfloat16 APART=2e-3 MOMENTS_APART=8e-3
//! variant bfloat_moments_quads: MOMENT=bf16 STORED=__nv_bfloat16 WIDTH=4 APART=2e-3 MOMENTS_APART=8e-3
//! let n = 8388608 small 32768
//! input gradient f32[n] random
//! buffer parameter f32[n] random
//! buffer first MOMENT[n] random
//! buffer second MOMENT[n] between 0.01 1
//! launch update grid=(n/(BLOCK*WIDTH*ITEMS)) block=(BLOCK) args=(gradient, parameter, first, second, f32:0.01)
//! reference adam_update
//! check parameter relative DEVICES, reference relative APART
//! check first exactly, reference relative MOMENTS_APART
//! check second exactly, reference relative MOMENTS_APART
#include <cuda_bf16.h>

template <class T>
struct alignas(sizeof(T) * WIDTH) Pack {
  T element[WIDTH];
};

__device__ float stepped(float parameter, float first, float second, float rate) {
  if (FAST) return parameter - rate * __fdividef(first, sqrtf(second) + 1e-8f);
  return parameter - rate * (first / (sqrtf(second) + 1e-8f));
}

__global__ void update(const Pack<float>* gradient, Pack<float>* parameter, Pack<STORED>* first, Pack<STORED>* second,
                       float rate) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int i = (blockIdx.x * ITEMS + item) * BLOCK + threadIdx.x;
    const Pack<float> g = gradient[i];
    Pack<float> p = parameter[i];
    Pack<STORED> m = first[i], v = second[i];
    for (int k = 0; k < WIDTH; ++k) {
      const float mean = 0.9f * float(m.element[k]) + 0.1f * g.element[k];
      const float square = 0.999f * float(v.element[k]) + 0.001f * g.element[k] * g.element[k];
      p.element[k] = stepped(p.element[k], mean * 5.0f, square * 50.0f, rate);
      m.element[k] = STORED(mean);
      v.element[k] = STORED(square);
    }
    parameter[i] = p;
    first[i] = m;
    second[i] = v;
  }
}
