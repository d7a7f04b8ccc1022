// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[64];
  tile[threadIdx.x % 64] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x / 2];
}
