// Overruns its own scratch buffer by a few elements.
//! buffer partial f32 [256]
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, partial, i32:numel(x))
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum, float* partial, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = x[i] + y[i];
  if (i < 264) partial[i] = 0.0f;
}
