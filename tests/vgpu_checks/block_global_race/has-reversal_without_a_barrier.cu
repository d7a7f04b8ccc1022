// grid 1 block 64 in x 64 out t 64 out y 64
extern "C" __global__ void k(const int* x, int* t, int* y) {
  t[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = t[63 - threadIdx.x];
}
