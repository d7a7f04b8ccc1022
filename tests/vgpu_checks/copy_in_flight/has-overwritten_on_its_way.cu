// grid 1 block 64 in x 64 out y 64
#include <cuda_pipeline.h>
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
  __pipeline_commit();
  if (threadIdx.x % 8 == 0) tile[threadIdx.x] = 7;
  __pipeline_wait_prior(0);
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
