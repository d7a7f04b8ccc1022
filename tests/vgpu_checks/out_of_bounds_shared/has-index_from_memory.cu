// grid 1 block 32 in x 64 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[32];
  tile[x[threadIdx.x + 8]] = 1;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
