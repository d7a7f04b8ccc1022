// Takes memory from the device heap, which outlives the call.
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* kept = static_cast<float*>(malloc(sizeof(float)));
  if (i < count && kept != nullptr) {
    *kept = x[i] + y[i];
    sum[i] = *kept;
  }
}
