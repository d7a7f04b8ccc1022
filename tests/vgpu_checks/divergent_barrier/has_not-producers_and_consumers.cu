// grid 1 block 64 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[32];
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync 1, 64; // written" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64; // to be read" ::: "memory");
    y[threadIdx.x] = tile[63 - threadIdx.x];
  }
}
