// Launches more threads than the kernel was compiled for (needs a GPU: only the loaded kernel knows).
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 1024) block=1024 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void __launch_bounds__(128) vector_add(const float* x, const float* y, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = x[i] + y[i];
}
