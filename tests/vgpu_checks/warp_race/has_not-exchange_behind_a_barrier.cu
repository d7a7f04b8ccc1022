// grid 1 block 32 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = tile[31 - threadIdx.x];
}
