// Rotary positions: pairs of a head's 128 numbers are turned by an angle of token and pair, computed or from tables.
//! define BLOCK=256 TABLE=0 SPLIT=1 WIDTH=1 HEADS=1 TYPE=f32 SCALAR=float APART=1e-5
//! variant split_computed: TABLE=0
//! variant split_computed_all_heads: TABLE=0 HEADS=16
//! variant split_table: TABLE=1
//! variant split_table_quads: TABLE=1 WIDTH=4
//! variant split_table_quads_half: TABLE=1 WIDTH=4 TYPE=f16 SCALAR=__half APART=1e-3
//! variant neighbours_computed: SPLIT=0
//! variant neighbours_table_pairs: SPLIT=0 TABLE=1 WIDTH=2
//! let tokens = 4096 small 32
//! let pairs = tokens*16*64
//! input cosine f32[tokens*64] random
//! input sine f32[tokens*64] random
//! buffer x TYPE[2*pairs] random
//! launch rotate grid=(pairs/(BLOCK*WIDTH*HEADS)) block=(BLOCK) args=(x, cosine, sine)
//! reference rope_rotate
//! check x exactly, reference relative APART
#include <cuda_fp16.h>

template <class T, int width>
struct alignas(sizeof(T) * width) Pack {
  T element[width];
};

using Angles = Pack<float, WIDTH>;

// Of WIDTH pairs from this one on: 10000 to the power of -pair/64, times the token.
__device__ void angles_of(int token, int pair, const float* cosine, const float* sine, Angles& c, Angles& s) {
  if (TABLE) {
    c = *reinterpret_cast<const Angles*>(cosine + token * 64 + pair);
    s = *reinterpret_cast<const Angles*>(sine + token * 64 + pair);
    return;
  }
  for (int k = 0; k < WIDTH; ++k) {
    const float angle = token * exp2f((pair + k) * (-13.287712f / 64.0f));
    c.element[k] = cosf(angle);
    s.element[k] = sinf(angle);
  }
}

__device__ void turn(SCALAR& a, SCALAR& b, float c, float s) {
  const float first = float(a), second = float(b);
  a = SCALAR(first * c - second * s);
  b = SCALAR(first * s + second * c);
}

__device__ void turn_halves(SCALAR* head, int pair, const Angles& c, const Angles& s) {
  auto* lower = reinterpret_cast<Pack<SCALAR, WIDTH>*>(head + pair);
  auto* upper = reinterpret_cast<Pack<SCALAR, WIDTH>*>(head + 64 + pair);
  Pack<SCALAR, WIDTH> a = *lower, b = *upper;
  for (int k = 0; k < WIDTH; ++k) turn(a.element[k], b.element[k], c.element[k], s.element[k]);
  *lower = a;
  *upper = b;
}

__device__ void turn_neighbours(SCALAR* head, int pair, const Angles& c, const Angles& s) {
  auto* both = reinterpret_cast<Pack<SCALAR, 2 * WIDTH>*>(head + 2 * pair);
  Pack<SCALAR, 2 * WIDTH> own = *both;
  for (int k = 0; k < WIDTH; ++k) turn(own.element[2 * k], own.element[2 * k + 1], c.element[k], s.element[k]);
  *both = own;
}

// x: (tokens, 16 heads, 128)
__global__ void rotate(SCALAR* x, const float* cosine, const float* sine) {
  const int thread = blockIdx.x * BLOCK + threadIdx.x, pair = thread % (64 / WIDTH) * WIDTH;
  const int head = thread / (64 / WIDTH) * HEADS;
  Angles c, s;
  angles_of(head / 16, pair, cosine, sine, c, s);
  for (int i = head; i < head + HEADS; ++i)
    if (SPLIT)
      turn_halves(x + i * 128, pair, c, s);
    else
      turn_neighbours(x + i * 128, pair, c, s);
}
