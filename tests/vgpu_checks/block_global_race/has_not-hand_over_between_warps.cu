// grid 1 block 64 in x 64 out t 64 out flag 1 out y 64
extern "C" __global__ void k(const int* x, int* t, int* flag, int* y) {
  if (threadIdx.x == 0) {
    t[0] = x[5];
    __threadfence();
    atomicExch(flag, 1);
  }
  if (threadIdx.x == 32) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    y[0] = t[0];
  }
}
