// grid 1 block 64 in x 256 out t 256 out y 64
extern "C" __global__ void k(const int4* x, int4* t, int* y) {
  t[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = ((int*)t)[threadIdx.x];
}
