// grid 1 block 32 in x 128 out y 128
#include <cuda_pipeline.h>
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ __align__(16) int tile[128];
  __pipeline_memcpy_async(&tile[4 * threadIdx.x], &x[4 * threadIdx.x], 16);
  if (threadIdx.x == 3) tile[31] = 1;
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
