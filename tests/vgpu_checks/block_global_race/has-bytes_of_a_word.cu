// grid 1 block 64 in x 64 out t 64 out y 64
extern "C" __global__ void k(const int* x, int* t, int* y) {
  ((unsigned char*)t)[threadIdx.x] = (unsigned char)x[threadIdx.x];
  y[threadIdx.x] = t[threadIdx.x / 4];
}
