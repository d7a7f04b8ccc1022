// Welford's update by the first thread of the block.
//! kernel layer_norm replaces layer_norm_1 : grid=x.size(0) block=256 \
//!   args=(x, "norm.weight", "norm.bias", layer_norm_1, i32:x.size(1), f32:1e-5)
extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y, int columns,
                                      float epsilon) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float* out = y + static_cast<long long>(blockIdx.x) * columns;
  __shared__ float statistics[2];
  if (threadIdx.x == 0) {
    float mean = 0.0f, squares = 0.0f;
    for (int i = 0; i < columns; ++i) {
      const float difference = in[i] - mean;
      mean += difference / (i + 1);
      squares += difference * (in[i] - mean);
    }
    statistics[0] = mean;
    statistics[1] = rsqrtf(squares / columns + epsilon);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    out[i] = (in[i] - statistics[0]) * statistics[1] * weight[i] + bias[i];
  }
}
