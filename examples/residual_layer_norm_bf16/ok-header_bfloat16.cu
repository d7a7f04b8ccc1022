// <cudal1/bfloat16.cuh>: addition and layer norm in one kernel. Rows of at most 2048 elements, a multiple of 8.
#include <cudal1/bfloat16.cuh>
#include <cudal1/reduce.cuh>
//! kernel residual_norm replaces add_1 layer_norm_1 : grid=x.size(0) block=256 \
//!   args=(x, residual, "norm.weight", "norm.bias", add_1, layer_norm_1, i32:x.size(1), f32:1e-5)
using bf16 = __nv_bfloat16;
using Moments = cudal1::Welford<float>;

__global__ void residual_norm(const bf16* __restrict__ x, const bf16* __restrict__ residual,
                              const bf16* __restrict__ weight, const bf16* __restrict__ bias, bf16* __restrict__ sums,
                              bf16* __restrict__ y, int columns, float epsilon) {
  const int i = 8 * threadIdx.x;
  const long long at = static_cast<long long>(blockIdx.x) * columns + i;
  cudal1::Vector<float, 8> value;
  Moments::Value seen = Moments::identity();
  if (i < columns) {
    const auto a = cudal1::to_float(cudal1::load<8>(x + at)), b = cudal1::to_float(cudal1::load<8>(residual + at));
    for (int k = 0; k < 8; ++k) value[k] = a[k] + b[k];
    const cudal1::Vector<bf16, 8> rounded = cudal1::from_float<bf16>(value);
    cudal1::store(sums + at, rounded);
    value = cudal1::to_float(rounded);  // the norm is that of the rounded sum, as in the task
    for (int k = 0; k < 8; ++k) seen = Moments::add(seen, value[k]);
  }
  seen = cudal1::block_reduce<Moments, 256>(seen);  // all threads come here
  if (i >= columns) return;
  const float scale = rsqrtf(seen.squares / seen.count + epsilon);
  const auto w = cudal1::to_float(cudal1::load<8>(weight + i)), b = cudal1::to_float(cudal1::load<8>(bias + i));
  for (int k = 0; k < 8; ++k) value[k] = (value[k] - seen.mean) * scale * w[k] + b[k];
  cudal1::store(y + at, cudal1::from_float<bf16>(value));
}
