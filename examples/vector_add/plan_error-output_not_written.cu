// Does not hand the result's memory to the kernel, so nothing could write it.
//! buffer elsewhere f32 [numel(x)]
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, elsewhere, i32:numel(x))
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = x[i] + y[i];
}
