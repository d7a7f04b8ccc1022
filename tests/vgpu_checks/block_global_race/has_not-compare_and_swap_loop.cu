// grid 1 block 64 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  int seen = y[0], expected;
  do {
    expected = seen;
    seen = atomicCAS(&y[0], expected, expected + x[threadIdx.x]);
  } while (seen != expected);
}
