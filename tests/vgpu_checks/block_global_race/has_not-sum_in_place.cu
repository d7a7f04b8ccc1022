// grid 1 block 128 out y 128
extern "C" __global__ void k(int* y) {
  y[threadIdx.x] = threadIdx.x;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) y[threadIdx.x] += y[threadIdx.x + half];
  }
}
