// grid 1 block 64 in x 64 out y 64
#include <cuda_pipeline.h>
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = tile[threadIdx.x];
}
