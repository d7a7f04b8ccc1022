// grid 1 block 32 shared 128 in x 32 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x + 1];
}
