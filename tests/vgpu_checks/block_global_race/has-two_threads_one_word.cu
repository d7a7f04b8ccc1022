// grid 1 block 64 out y 64
extern "C" __global__ void k(int* y) { y[threadIdx.x / 2] = threadIdx.x; }
