// grid 4 block 32 in x 128 out y 8
extern "C" __global__ void k(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x != 0) return;
  while (atomicCAS(&y[4], 0, 1) != 0) {
  }
  __threadfence();
  y[0] += x[i];
  __threadfence();
  atomicExch(&y[4], 0);
}
