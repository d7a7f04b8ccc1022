// grid 1 block 64 shared 128 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
