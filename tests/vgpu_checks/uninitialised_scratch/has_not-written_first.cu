// grid 1 block 32 in x 32 out y 32 scratch t 32
extern "C" __global__ void k(const int* x, int* y, int* t) {
  t[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = t[31 - threadIdx.x];
}
