// grid 1 block 32 in x 32 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[34];
  tile[threadIdx.x + 1] = x[threadIdx.x];
  if (threadIdx.x == 0) tile[0] = tile[33] = 0;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 2];
}
