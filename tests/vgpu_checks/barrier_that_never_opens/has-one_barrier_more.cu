// grid 1 block 64 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  #pragma unroll 1
  for (int j = 0; j < (threadIdx.x < 32 ? 3 : 2); ++j) asm volatile("bar.sync 1;" ::: "memory");
  asm volatile("bar.sync 2;" ::: "memory");
  y[threadIdx.x] = x[threadIdx.x];
}
