// Asks for more shared memory than a block can have.
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 shared=300000 \
//!   args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum, int count) {
  extern __shared__ float staged[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    staged[threadIdx.x] = x[i] + y[i];
    sum[i] = staged[threadIdx.x];
  }
}
