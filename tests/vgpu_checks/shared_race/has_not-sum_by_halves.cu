// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
  }
  __syncthreads();
  y[threadIdx.x] = tile[0];
}
