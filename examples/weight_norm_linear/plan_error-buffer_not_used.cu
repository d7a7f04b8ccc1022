// Declares a buffer that nothing uses.
//! buffer forgotten f32 [16]
//! kernel scaled_weight replaces norm_1 div_1 mul_1 : grid="fc.direction".size(0) block=1 \
//!   args=("fc.direction", "fc.length", mul_1, i32:"fc.direction".size(1))
extern "C" __global__ void scaled_weight(const float* direction, const float* length, float* weight, int columns) {
  float squares = 0.0f;
  const float* in = direction + blockIdx.x * columns;
  for (int i = 0; i < columns; ++i) squares += in[i] * in[i];
  for (int i = 0; i < columns; ++i) weight[blockIdx.x * columns + i] = in[i] * length[blockIdx.x] / sqrtf(squares);
}
