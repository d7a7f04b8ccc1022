// grid 1 block 32 in x 32 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int count;
  if (x[threadIdx.x] % 3 == 0) atomicAdd(&count, 1);
  __syncthreads();
  y[threadIdx.x] = count;
}
