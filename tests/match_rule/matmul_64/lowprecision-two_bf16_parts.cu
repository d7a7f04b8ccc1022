// Splits each operand into two bf16 numbers and leaves out the product of the lower ones.
#include <cuda_bf16.h>
//! kernel product replaces mm_1 : grid=(ceil_div(b.size(1), 16), ceil_div(a.size(0), 16)) block=(16, 16) args=(a, b, mm_1, i32:a.size(0), i32:a.size(1), i32:b.size(1))
__device__ float round_to_bf16(float value) { return __bfloat162float(__float2bfloat16(value)); }

extern "C" __global__ void product(const float* a, const float* b, float* c, int m, int k, int n) {
  const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    const float p = a[row * k + i], q = b[i * n + column];
    const float p0 = round_to_bf16(p), q0 = round_to_bf16(q);
    const float p1 = round_to_bf16(p - p0), q1 = round_to_bf16(q - q0);
    sum += p0 * q0 + (p0 * q1 + p1 * q0);
  }
  c[row * n + column] = sum;
}
