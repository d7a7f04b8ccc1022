// grid 1 block 64 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[64];
#pragma unroll 1
  for (int i = 0; i <= x[threadIdx.x] / 32; ++i) {
    tile[threadIdx.x] = i;
    __syncthreads();
  }
  if (threadIdx.x < 32) tile[threadIdx.x] = 7;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
