// A scratch buffer of 960 GiB.
//! buffer huge f32 [240, 1024, 1024, 1024]
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, huge, i32:numel(x))
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum, float* huge, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    huge[i] = x[i] + y[i];
    sum[i] = huge[i];
  }
}
