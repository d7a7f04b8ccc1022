// A grid that fills the machine once and strides over the data; launched as a CUDA Graph.
//! kernel vector_add<8> replaces add_1 : grid=1056 block=256 args=(x, y, add_1, i64:numel(x))
template <int unroll>
__global__ void vector_add(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ sum,
                           long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + (unroll - 1) * stride < count; i += unroll * stride) {
#pragma unroll
    for (int k = 0; k < unroll; ++k) sum[i + k * stride] = x[i + k * stride] + y[i + k * stride];
  }
  for (; i < count; i += stride) sum[i] = x[i] + y[i];
}
//! graph
