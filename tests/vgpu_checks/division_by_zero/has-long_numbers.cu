// grid 1 block 32 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  const long long big = (static_cast<long long>(x[threadIdx.x]) << 40) - (static_cast<long long>(x[7]) << 40);
  y[threadIdx.x] = static_cast<int>((1LL << 50) / big);
}
