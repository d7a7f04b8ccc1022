// A row per block in y, four columns per thread: the bias is read once per thread for many rows.
//! kernel bias_gelu replaces add_1 gelu_1 : grid=(ceil_div(x.size(1), 1024), ceil_div(x.size(0), 8)) block=256 \
//!   args=(x, bias, gelu_1, i32:x.size(0), i32:x.size(1))
__device__ __forceinline__ float gelu(float value) { return 0.5f * value * (1.0f + erff(value * 0.70710678f)); }

extern "C" __global__ void __launch_bounds__(256)
bias_gelu(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y, int rows, int columns) {
  const int column = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (column >= columns) return;
  const float4 b = *reinterpret_cast<const float4*>(bias + column);
  const int last_row = min(rows, 8 * static_cast<int>(blockIdx.y) + 8);
#pragma unroll 4
  for (int row = 8 * blockIdx.y; row < last_row; ++row) {
    const long long at = static_cast<long long>(row) * columns + column;
    const float4 v = *reinterpret_cast<const float4*>(x + at);
    *reinterpret_cast<float4*>(y + at) =
        make_float4(gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w));
  }
}
