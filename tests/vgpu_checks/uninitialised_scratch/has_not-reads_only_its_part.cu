// grid 1 block 32 in x 32 out y 32 scratch t 64
extern "C" __global__ void k(const int* x, int* y, int* t) {
  for (int j = 0; j < 4; ++j) reinterpret_cast<char*>(t)[4 * threadIdx.x + j] = static_cast<char>(x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = t[31 - threadIdx.x];
}
