// grid 1 block 32 in x 32 out y 32
extern "C" __global__ void k(int* x, int* y) { y[threadIdx.x] = atomicAdd(&x[threadIdx.x], 1); }
