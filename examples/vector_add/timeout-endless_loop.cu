// Never ends: waits for an input to change.
//! kernel vector_add replaces add_1 : grid=1 block=32 args=(x, y, add_1)
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum) {
  const volatile float* watched = x;
  const float before = watched[0];
  while (watched[0] == before) {
  }
  sum[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}
