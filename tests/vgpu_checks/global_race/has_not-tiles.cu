// grid 4 block 32 in x 128 out y 160
extern "C" __global__ void k(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
  __syncthreads();
  y[i] += 1;
}
