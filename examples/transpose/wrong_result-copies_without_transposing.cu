// Copies the memory as it is.
//! kernel transpose replaces t_1 contiguous_1 : grid=ceil_div(numel(x), 256) block=256 \
//!   args=(x, contiguous_1, i32:numel(x))
extern "C" __global__ void transpose(const float* x, float* y, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i];
}
