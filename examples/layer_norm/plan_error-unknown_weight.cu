// Names a weight that the task does not have.
//! kernel layer_norm replaces layer_norm_1 : grid=x.size(0) block=256 \
//!   args=(x, "norm.wieght", "norm.bias", layer_norm_1, i32:x.size(1), f32:1e-5)
extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y, int columns,
                                      float epsilon) {}
