// A library step that updates state and a kernel of ours, as one CUDA Graph.
//! kernel relu replaces relu_1 : grid=ceil_div(numel(batch_norm_1), 256) block=256 \
//!   args=(batch_norm_1, relu_1, i32:numel(batch_norm_1))
//! graph
extern "C" __global__ void relu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] < 0.0f ? 0.0f : x[i];
}
