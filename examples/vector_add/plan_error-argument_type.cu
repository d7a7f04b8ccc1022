// Hands a 64-bit number to a 32-bit parameter.
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i64:numel(x))
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = x[i] + y[i];
}
