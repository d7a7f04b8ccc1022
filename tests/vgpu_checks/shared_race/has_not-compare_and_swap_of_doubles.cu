// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, float* y) {
  __shared__ double sum;
  if (threadIdx.x == 0) sum = 0.0;
  __syncthreads();
  auto* place = reinterpret_cast<unsigned long long*>(&sum);
  unsigned long long old = *place, expected;
  do {
    expected = old;
    old = atomicCAS(place, expected, __double_as_longlong(__longlong_as_double(expected) + x[threadIdx.x]));
  } while (old != expected);
  __syncthreads();
  y[threadIdx.x] = static_cast<float>(sum);
}
