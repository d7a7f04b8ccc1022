// grid 1 block 32 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ __align__(16) int tile[128];
  if (threadIdx.x % 4 != 3) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= 8) return;
  const int4 row = reinterpret_cast<int4*>(tile)[threadIdx.x];
  y[threadIdx.x] = row.x + row.y + row.z + row.w;
}
