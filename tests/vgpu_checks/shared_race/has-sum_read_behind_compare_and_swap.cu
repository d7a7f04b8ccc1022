// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int old = sum, expected;
  do {
    expected = old;
    old = atomicCAS(&sum, expected, expected + x[threadIdx.x]);
  } while (old != expected);
  y[threadIdx.x] = sum;
}
