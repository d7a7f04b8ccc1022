// grid 1 block 64 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x % 2 == 0) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    tile[threadIdx.x] += 3;
  } else {
    tile[threadIdx.x] += 5;
    asm volatile("bar.sync 1, 64; // odd" ::: "memory");
  }
  y[threadIdx.x] = tile[threadIdx.x];
}
