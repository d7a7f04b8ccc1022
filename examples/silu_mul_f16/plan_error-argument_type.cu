// Reads fp16 tensors as float.
//! kernel silu_mul replaces silu_1 mul_1 : grid=ceil_div(numel(gate), 256) block=256 \
//!   args=(gate, up, mul_1, i32:numel(gate))
extern "C" __global__ void silu_mul(const float* gate, const float* up, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
}
