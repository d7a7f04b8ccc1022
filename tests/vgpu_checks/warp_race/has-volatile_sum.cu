// grid 1 block 32 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  tile[threadIdx.x + 32] = x[threadIdx.x + 32];
  __syncwarp();
  volatile int* in_step = tile;
  for (int half = 32; half > 0; half /= 2)
    if (threadIdx.x < half) in_step[threadIdx.x] = in_step[threadIdx.x] + in_step[threadIdx.x + half];
  __syncwarp();
  y[threadIdx.x] = tile[0];
}
