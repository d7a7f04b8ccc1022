// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  asm volatile("bar.sync 1;" ::: "memory");
  y[threadIdx.x] = tile[127 - threadIdx.x];
}
