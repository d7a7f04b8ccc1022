// One warp, one product of 16 x 8 x 16 in half precision with sums in half precision; small whole numbers, exact.
//! input a f16[256] below 4
//! input b f16[128] below 4
//! buffer c f16[128] zero
//! launch multiply grid=(1) block=(32) args=(a, b, c)
//! reference mma_16x8x16
//! check c exactly
#include <cuda_fp16.h>

// a: 16 x 16 by rows; b: 16 x 8 by columns; c: 16 x 8 by rows.
__global__ void multiply(const unsigned* a, const unsigned* b, unsigned* c) {
  const int group = threadIdx.x / 4, place = threadIdx.x % 4;
  const unsigned a0 = a[group * 8 + place], a1 = a[(group + 8) * 8 + place];
  const unsigned a2 = a[group * 8 + place + 4], a3 = a[(group + 8) * 8 + place + 4];
  const unsigned b0 = b[group * 8 + place], b1 = b[group * 8 + place + 4];
  unsigned c0 = 0, c1 = 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(c0), "+r"(c1)
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  c[group * 4 + place] = c0;
  c[(group + 8) * 4 + place] = c1;
}
