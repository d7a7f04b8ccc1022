// grid 4 block 32 in x 128 out y 160
extern "C" __global__ void k(const int* x, int* y) {
  for (int j = threadIdx.x; j < 33; j += 32) y[32 * blockIdx.x + j] = x[threadIdx.x];
}
