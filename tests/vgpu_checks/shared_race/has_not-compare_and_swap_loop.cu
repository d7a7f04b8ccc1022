// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, float* y) {
  __shared__ float largest[4];
  if (threadIdx.x < 4) largest[threadIdx.x] = 0.0f;
  __syncthreads();
  int* place = reinterpret_cast<int*>(&largest[threadIdx.x % 4]);
  const float value = x[threadIdx.x];
  int old = *place, expected;
  do {
    expected = old;
    old = atomicCAS(place, expected, __float_as_int(__int_as_float(expected) + value));
  } while (old != expected);
  __syncthreads();
  y[threadIdx.x] = largest[threadIdx.x % 4];
}
