// A group that replaces the node must name the state it updates, or nobody would write it.
//! kernel batch_norm replaces batch_norm_1 : grid=1 block=256 args=(x, "bn.weight", "bn.bias", batch_norm_1)
extern "C" __global__ void batch_norm(const float* x, const float* weight, const float* bias, float* y) {
  y[threadIdx.x] = x[threadIdx.x] * weight[0] + bias[0];
}
