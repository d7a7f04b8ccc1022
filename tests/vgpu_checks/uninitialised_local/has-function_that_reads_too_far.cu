// grid 1 block 32 in x 32 out y 32
__device__ __noinline__ int sum(const int* values, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += values[i];
  return total;
}
extern "C" __global__ void k(const int* x, int* y) {
  int values[8];
  for (int i = 0; i < 4; ++i) values[(x[i] + threadIdx.x) % 8] = i;
  y[threadIdx.x] = sum(values, 8);
}
