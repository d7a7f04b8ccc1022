// Loads 16 bytes from an address that is not a multiple of 16 (needs a GPU: a CPU allows it).
//! kernel vector_add replaces add_1 : grid=1 block=32 args=(x, y, add_1)
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum) {
  float4 a = *reinterpret_cast<const float4*>(x + 1 + 4 * threadIdx.x);
  sum[threadIdx.x] = a.x + a.y + a.z + a.w + y[threadIdx.x];
}
