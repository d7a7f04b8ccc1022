// grid 2 block 64 in x 128 out t 128 out y 128
extern "C" __global__ void k(const int* x, int* t, int* y) {
  const int begin = blockIdx.x * 64;
  t[begin + threadIdx.x] = x[begin + threadIdx.x];
  __syncthreads();
  y[begin + threadIdx.x] = t[begin + 63 - threadIdx.x];
}
