// grid 2 block 128 in x 128 out y 256
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  if (blockIdx.x == 0) {
    __syncthreads();
    y[threadIdx.x] = tile[127 - threadIdx.x];
  } else {
    tile[threadIdx.x] += 1;
    __syncthreads();
    y[128 + threadIdx.x] = tile[threadIdx.x ^ 1];
  }
}
