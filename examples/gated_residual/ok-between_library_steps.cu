// Kernels for the second and third node only: library steps before and after, and a glob in `replaces`; a CUDA Graph.
//! kernel gate_tanh replaces mul_* tanh_* : grid=ceil_div(numel(x), 256) block=256 \
//!   args=(x, sigmoid_1, tanh_1, i32:numel(x))
//! graph
extern "C" __global__ void gate_tanh(const float* x, const float* gate, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = tanhf(x[i] * gate[i]);
}
