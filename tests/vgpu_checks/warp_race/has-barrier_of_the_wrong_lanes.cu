// grid 1 block 32 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 16)
    __syncwarp(0x0000ffff);
  else
    __syncwarp(0xffff0000);
  y[threadIdx.x] = tile[31 - threadIdx.x];
}
