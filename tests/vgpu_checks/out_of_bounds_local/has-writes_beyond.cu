// grid 1 block 32 in x 64 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  int own[8];
  #pragma unroll 1
  for (int j = 0; j < 8; ++j) own[j] = 0;
  own[x[8]] = 1;
  y[threadIdx.x] = own[x[threadIdx.x % 8]];
}
