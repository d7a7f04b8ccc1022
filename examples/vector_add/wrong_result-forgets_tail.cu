// Vectorised without a tail: the elements after the last whole group of four are never written.
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 1024) block=256 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void vector_add(const float4* x, const float4* y, float4* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count / 4) {
    float4 a = x[i], b = y[i];
    sum[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}
