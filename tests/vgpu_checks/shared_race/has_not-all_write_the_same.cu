// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (x[threadIdx.x] % 5 == 0) found = 1;
  __syncthreads();
  y[threadIdx.x] = found;
}
