// C = A B of bytes with sums of 32 bits: mma.sync of 16 x 8 x 32, a warp per tile; B lies by columns.
//! let n = 64
//! input a i8[n*n] random
//! input b i8[n*n] random
//! buffer c i32[n*n] poison
//! launch multiply grid=(n/8,n/16) block=(32) args=(a, b, c, i32:n)
//! reference matmul_bytes
//! check c exactly

__global__ void multiply(const signed char* a, const signed char* b, int* c, int n) {
  const int group = threadIdx.x / 4, place = threadIdx.x % 4 * 4;
  const signed char* upper = a + (blockIdx.y * 16 + group) * n + place;
  const signed char* lower = upper + 8 * n;
  const signed char* column = b + (blockIdx.x * 8 + group) * n + place;
  const auto word = [](const signed char* from) { return *reinterpret_cast<const unsigned*>(from); };
  int sum[4] = {};
  for (int k = 0; k < n; k += 32)
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(word(upper + k)), "r"(word(lower + k)), "r"(word(upper + k + 16)), "r"(word(lower + k + 16)),
          "r"(word(column + k)), "r"(word(column + k + 16)));
  int* to = c + (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + threadIdx.x % 4 * 2;
  to[0] = sum[0];
  to[1] = sum[1];
  to[8 * n] = sum[2];
  to[8 * n + 1] = sum[3];
}
