// All four nodes, four elements per thread. The number of elements is a multiple of four.
//! kernel gated_residual replaces sigmoid_1 mul_1 tanh_1 add_1 : grid=ceil_div(numel(x), 1024) block=256 \
//!   args=(x, gate, add_1, i32:numel(x))
__device__ __forceinline__ float gated(float value, float gate) {
  return value + tanhf(value / (1.0f + expf(-gate)));
}
extern "C" __global__ void __launch_bounds__(256)
gated_residual(const float4* __restrict__ x, const float4* __restrict__ gate, float4* __restrict__ y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= count) return;
  const float4 v = x[i], g = gate[i];
  y[i] = make_float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}
