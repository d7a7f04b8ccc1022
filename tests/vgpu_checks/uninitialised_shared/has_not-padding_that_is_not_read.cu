// grid 1 block 32 in x 1024 out y 1024
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[32][33];
  for (int row = 0; row < 32; ++row) tile[row][threadIdx.x] = x[32 * row + threadIdx.x];
  __syncthreads();
  for (int row = 0; row < 32; ++row) y[32 * row + threadIdx.x] = tile[threadIdx.x][row];
}
