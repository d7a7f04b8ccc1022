// grid 1 block 64 in x 512 out y 64
#include <cuda_pipeline.h>
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[2][64];
  __pipeline_memcpy_async(&tile[0][threadIdx.x], &x[threadIdx.x], 4);
  __pipeline_commit();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    if (i < 7) __pipeline_memcpy_async(&tile[(i + 1) % 2][threadIdx.x], &x[64 * (i + 1) + threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[i % 2][63 - threadIdx.x];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
