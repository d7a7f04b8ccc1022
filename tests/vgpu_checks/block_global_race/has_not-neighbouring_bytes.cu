// grid 1 block 64 in x 64 out t 64
extern "C" __global__ void k(const int* x, unsigned char* t) {
  t[threadIdx.x] = (unsigned char)x[threadIdx.x];
  t[64 + threadIdx.x] = t[threadIdx.x];
}
