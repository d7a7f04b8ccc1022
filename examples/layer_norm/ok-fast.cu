// A block per row with the row in registers as float4: one read, one write.
//! kernel layer_norm<2> replaces layer_norm_1 : grid=x.size(0) block=256 \
//!   args=(x, "norm.weight", "norm.bias", layer_norm_1, i32:x.size(1), f32:1e-5)
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// Every thread gets the sum over the block; the block is a whole number of warps.
__device__ float block_sum(float value) {
  __shared__ float warp_sums[32];
  value = warp_sum(value);
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? warp_sums[threadIdx.x % 32] : 0.0f);
}

// Rows of up to 1024 * groups elements, a multiple of four.
template <int groups>
__global__ void __launch_bounds__(256)
layer_norm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
           float* __restrict__ y, int columns, float epsilon) {
  const float4* in = reinterpret_cast<const float4*>(x + static_cast<long long>(blockIdx.x) * columns);
  float4* out = reinterpret_cast<float4*>(y + static_cast<long long>(blockIdx.x) * columns);
  float4 value[groups];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < groups; ++k) {
    const int i = threadIdx.x + 256 * k;
    value[k] = 4 * i < columns ? in[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    sum += (value[k].x + value[k].y) + (value[k].z + value[k].w);
  }
  const float mean = block_sum(sum) / columns;
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < groups; ++k) {
    if (4 * (threadIdx.x + 256 * k) >= columns) continue;
    value[k] = make_float4(value[k].x - mean, value[k].y - mean, value[k].z - mean, value[k].w - mean);
    const float4 v = value[k];
    squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
  }
  const float scale = rsqrtf(block_sum(squares) / columns + epsilon);
#pragma unroll
  for (int k = 0; k < groups; ++k) {
    const int i = threadIdx.x + 256 * k;
    if (4 * i >= columns) continue;
    const float4 w = reinterpret_cast<const float4*>(weight)[i];
    const float4 b = reinterpret_cast<const float4*>(bias)[i];
    out[i] = make_float4(value[k].x * scale * w.x + b.x, value[k].y * scale * w.y + b.y,
                         value[k].z * scale * w.z + b.z, value[k].w * scale * w.w + b.w);
  }
}
