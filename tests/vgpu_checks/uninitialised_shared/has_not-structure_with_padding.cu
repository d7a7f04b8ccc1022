// grid 1 block 64 in x 64 out y 64
struct Best {
  double value;
  int index;
};
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ Best best[64];
  const unsigned t = threadIdx.x;
  best[t].value = x[t] % 7;
  best[t].index = t;
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (t < half && best[t + half].value > best[t].value) best[t] = best[t + half];
    __syncthreads();
  }
  y[t] = best[0].index;
}
