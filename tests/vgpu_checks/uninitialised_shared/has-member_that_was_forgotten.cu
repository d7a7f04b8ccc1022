// grid 1 block 32 in x 32 out y 32
struct Best {
  double value;
  int index;
};
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ Best best[32];
  best[threadIdx.x].value = x[threadIdx.x];
  __syncthreads();
  const Best other = best[31 - threadIdx.x];
  __syncthreads();
  best[threadIdx.x] = other;
  y[threadIdx.x] = best[threadIdx.x].index;
}
