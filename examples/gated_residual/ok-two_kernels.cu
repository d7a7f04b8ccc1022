// Two kernels with an intermediate value of the task between them, as a CUDA Graph.
//! kernel gate_values replaces sigmoid_1 mul_1 : grid=ceil_div(numel(x), 256) block=256 \
//!   args=(x, gate, mul_1, i32:numel(x))
//! kernel add_tanh replaces tanh_1 add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, mul_1, add_1, i32:numel(x))
//! graph
extern "C" __global__ void gate_values(const float* x, const float* gate, float* gated, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) gated[i] = x[i] / (1.0f + expf(-gate[i]));
}
extern "C" __global__ void add_tanh(const float* x, const float* gated, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i] + tanhf(gated[i]);
}
