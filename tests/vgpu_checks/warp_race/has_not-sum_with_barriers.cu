// grid 1 block 32 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  tile[threadIdx.x + 32] = x[threadIdx.x + 32];
  __syncwarp();
  for (int half = 32; half > 0; half /= 2) {
    const int other = threadIdx.x < half ? tile[threadIdx.x + half] : 0;
    __syncwarp();
    if (threadIdx.x < half) tile[threadIdx.x] += other;
    __syncwarp();
  }
  y[threadIdx.x] = tile[0];
}
