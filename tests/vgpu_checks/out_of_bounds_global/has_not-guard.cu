// grid 2 block 64 in x 128 out y 100
extern "C" __global__ void k(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 100) y[i] = x[i];
}
