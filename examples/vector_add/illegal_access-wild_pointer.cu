// Writes to an address that nobody owns.
//! kernel vector_add replaces add_1 : grid=1 block=32 args=(x, y, add_1)
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum) {
  float* wild = reinterpret_cast<float*>(16ull);
  wild[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
  sum[threadIdx.x] = wild[threadIdx.x];
}
