// Statistics in one launch, the normalisation in a second one with a thread per element; as a CUDA Graph.
//! buffer statistics f32 [x.size(0), 2]
//! group norm replaces layer_norm_1
//! launch row_statistics : grid=ceil_div(x.size(0), 8) block=256 \
//!   args=(x, statistics, i32:x.size(0), i32:x.size(1), f32:1e-5)
//! launch normalise : grid=ceil_div(numel(x), 256) block=256 \
//!   args=(x, statistics, "norm.weight", "norm.bias", layer_norm_1, i32:numel(x), i32:x.size(1))
//! graph
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

extern "C" __global__ void row_statistics(const float* __restrict__ x, float2* statistics, int rows, int columns,
                                          float epsilon) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* in = x + static_cast<long long>(row) * columns;
  float sum = 0.0f;
  for (int i = lane; i < columns; i += 32) sum += in[i];
  const float mean = warp_sum(sum) / columns;
  float squares = 0.0f;
  for (int i = lane; i < columns; i += 32) squares += (in[i] - mean) * (in[i] - mean);
  const float scale = rsqrtf(warp_sum(squares) / columns + epsilon);
  if (lane == 0) statistics[row] = make_float2(mean, scale);
}
extern "C" __global__ void normalise(const float* __restrict__ x, const float2* __restrict__ statistics,
                                     const float* __restrict__ weight, const float* __restrict__ bias, float* y,
                                     int count, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float2 row = statistics[i / columns];
  y[i] = (x[i] - row.x) * row.y * weight[i % columns] + bias[i % columns];
}
