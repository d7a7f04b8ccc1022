// y = a x + y, by vector width, block size and items per thread.
//! define BLOCK=256 WIDTH=1 ITEMS=1 SPREAD=1
//! variant scalar: WIDTH=1
//! variant pairs: WIDTH=2
//! variant quads: WIDTH=4
//! variant small_blocks: BLOCK=64
//! variant large_blocks: BLOCK=1024
//! variant four_items: ITEMS=4
//! variant neighbouring_items: ITEMS=8 SPREAD=0
//! let n = 16777216 small 16384
//! input x f32[n] random
//! buffer y f32[n] random
//! launch saxpy grid=(n/(BLOCK*WIDTH*ITEMS)) block=(BLOCK) args=(f32:2.5, x, y)
//! reference saxpy
//! check y exactly

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

// SPREAD: the items of a thread lie a block apart, else side by side.
__global__ void saxpy(float a, const Pack* x, Pack* y) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int i = SPREAD ? (blockIdx.x * ITEMS + item) * BLOCK + threadIdx.x
                         : (blockIdx.x * BLOCK + threadIdx.x) * ITEMS + item;
    const Pack left = x[i];
    Pack sum = y[i];
    for (int k = 0; k < WIDTH; ++k) sum.element[k] = a * left.element[k] + sum.element[k];
    y[i] = sum;
  }
}
