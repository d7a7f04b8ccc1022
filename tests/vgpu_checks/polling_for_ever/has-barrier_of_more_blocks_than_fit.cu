// grid 5000 block 32 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  if (threadIdx.x == 0) {
    atomicAdd(&y[0], 1);
    while (atomicAdd(&y[0], 0) < (int)gridDim.x) {
    }
  }
  __syncthreads();
}
