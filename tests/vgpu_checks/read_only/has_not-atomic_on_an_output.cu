// grid 1 block 32 in x 32 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  y[threadIdx.x] = 0;
  __syncwarp();
  atomicAdd(&y[31 - threadIdx.x], x[threadIdx.x]);
}
