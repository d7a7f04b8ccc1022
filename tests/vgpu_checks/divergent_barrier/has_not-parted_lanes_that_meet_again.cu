// grid 1 block 64 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int tile[64], lock;
  if (threadIdx.x == 0) lock = 0;
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < x[threadIdx.x]; ++i) sum += x[i];
  for (bool done = false; !done;)
    if (atomicCAS(&lock, 0, 1) == 0) {
      tile[threadIdx.x] = sum;
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
