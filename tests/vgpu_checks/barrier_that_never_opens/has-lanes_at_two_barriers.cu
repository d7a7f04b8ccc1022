// grid 1 block 64 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  if (x[threadIdx.x] % 2 == 0)
    asm volatile("bar.sync 3;" ::: "memory");
  else
    asm volatile("bar.sync 4;" ::: "memory");
  y[threadIdx.x] = 1;
}
