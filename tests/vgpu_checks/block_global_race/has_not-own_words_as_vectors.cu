// grid 1 block 64 in x 256 out t 256 out y 64
extern "C" __global__ void k(const int4* x, int4* t, int* y) {
  t[threadIdx.x] = x[threadIdx.x];
  const volatile int* words = (const volatile int*)t;
  t[threadIdx.x].x += 1;
  y[threadIdx.x] = words[4 * threadIdx.x + 2];
}
