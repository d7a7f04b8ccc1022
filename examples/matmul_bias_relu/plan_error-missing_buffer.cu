// Uses a scratch buffer that no line declares.
//! kernel linear_relu replaces linear_1 relu_1 : grid=1 block=32 args=(x, workspace, relu_1)
extern "C" __global__ void linear_relu(const float* x, float* workspace, float* y) {}
