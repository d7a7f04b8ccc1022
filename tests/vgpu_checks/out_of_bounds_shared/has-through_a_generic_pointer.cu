// grid 1 block 32 in x 64 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const int* from = x[threadIdx.x] % 2 ? x : tile;
  y[threadIdx.x] = from[threadIdx.x + x[3]];
}
