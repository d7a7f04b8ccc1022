// <cudal1/mma.cuh>: a warp computes 16x8 sums on tensor cores with fp32 accuracy. Sizes are multiples of 16, 8 and 32.
#include <cudal1/mma.cuh>
//! kernel product replaces mm_1 : grid=(b.size(1)/8, a.size(0)/16) block=32 \
//!   args=(a, b, mm_1, i32:b.size(1), i32:a.size(1))
__global__ void product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int columns,
                        int depth) {
  const int g = cudal1::lane() / 4, t = cudal1::lane() % 4;
  const float* rows = a + (16 * blockIdx.y + g) * depth + t;
  const float* column = b + t * columns + 8 * blockIdx.x + g;
  float total[4] = {};
  for (int start = 0; start < depth; start += 32) {
    float sums[4] = {};  // tensor cores cut off what they add: never more than 32 products in a row
    for (int k = start; k < start + 32; k += 8) {
      const float left[4] = {rows[k], rows[k + 8 * depth], rows[k + 4], rows[k + 4 + 8 * depth]};
      const float right[2] = {column[k * columns], column[(k + 4) * columns]};
      const cudal1::Tf32Parts<4> l(reinterpret_cast<const unsigned*>(left));
      const cudal1::Tf32Parts<2> r(reinterpret_cast<const unsigned*>(right));
      cudal1::multiply_add_tf32(sums, l.small, r.big);
      cudal1::multiply_add_tf32(sums, l.big, r.small);
      cudal1::multiply_add_tf32(sums, l.big, r.big);
    }
    for (int i = 0; i < 4; ++i) total[i] += sums[i];
  }
  for (int i = 0; i < 4; ++i)
    c[(16 * blockIdx.y + g + i / 2 * 8) * columns + 8 * blockIdx.x + 2 * t + i % 2] = total[i];
}
