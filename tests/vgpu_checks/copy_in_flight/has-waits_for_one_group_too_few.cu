// grid 1 block 64 in x 128 out y 64
#include <cuda_pipeline.h>
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[2][64];
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&tile[i][threadIdx.x], &x[64 * i + threadIdx.x], 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  y[threadIdx.x] = tile[0][63 - threadIdx.x] + tile[1][63 - threadIdx.x];
}
