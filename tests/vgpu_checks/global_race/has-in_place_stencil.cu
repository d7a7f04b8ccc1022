// grid 4 block 32 in x 4 out y 160
extern "C" __global__ void k(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = y[i + 1];
  __syncthreads();
  y[i] = next + x[0];
}
