// Operands with three bits of mantissa, as in fp8.
#include <cuda_fp16.h>
//! kernel matmul replaces mm_1 : grid=(ceil_div(b.size(1), 32), ceil_div(a.size(0), 4)) block=(32, 4) \
//!   args=(a, b, mm_1, i32:a.size(0), i32:b.size(1), i32:a.size(1))
__device__ float round_to_fp8(__half value) {
  const unsigned bits = __float_as_uint(__half2float(value));
  return __uint_as_float((bits + 0x7ffffu + ((bits >> 20) & 1u)) & ~0xfffffu);
}

extern "C" __global__ void matmul(const __half* a, const __half* b, __half* c, int rows, int columns, int inner) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < inner; ++k) sum += round_to_fp8(a[row * inner + k]) * round_to_fp8(b[k * columns + column]);
  c[row * columns + column] = __float2half(sum);
}
