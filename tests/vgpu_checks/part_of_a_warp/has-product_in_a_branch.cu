// grid 1 block 32 in x 32 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  unsigned a = x[threadIdx.x % 32], b = x[(threadIdx.x + 7) % 32];
  int d[4] = {0, 0, 0, 0};
  if (threadIdx.x % 2 == 1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %4}, {%5}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a), "r"(b));
    y[threadIdx.x] = d[0];
  }
}
