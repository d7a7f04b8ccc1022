// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 100) {
    __syncthreads();
    tile[threadIdx.x] += 1;
  }
  tile[threadIdx.x] *= 3;
  __syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];
}
