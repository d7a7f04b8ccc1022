// grid 1 block 64 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  unsigned a = x[threadIdx.x % 32], b = x[(threadIdx.x + 7) % 32];
  int d[4] = {0, 0, 0, 0};
  if (threadIdx.x >= 50) return;
  {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %4}, {%5}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a), "r"(b));
  }
  y[threadIdx.x] = d[1] + d[2] + d[3];
}
