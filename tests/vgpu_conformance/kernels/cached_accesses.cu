// Loads and stores with advice for the caches, volatile ones, and vectors of every width.
//! let n = 1024
//! input x f32[4*n] random
//! buffer y f32[4*n] poison
//! launch copy grid=(n/128) block=(128) args=(x, y, i32:n)
//! reference plus_one
//! check y exactly

__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  y[i] = __ldg(x + i) + 1.0f;
  __stcg(y + n + i, __ldcs(x + n + i) + 1.0f);
  if (i < n / 2) {
    const float2 pair = __ldcg(reinterpret_cast<const float2*>(x + 2 * n) + i);
    *reinterpret_cast<float2*>(y + 2 * n + 2 * i) = make_float2(pair.x + 1.0f, pair.y + 1.0f);
  }
  if (i < n / 4) {
    const float4 quad = __ldg(reinterpret_cast<const float4*>(x + 3 * n) + i);
    __stcs(reinterpret_cast<float4*>(y + 3 * n) + i,
           make_float4(quad.x + 1.0f, quad.y + 1.0f, quad.z + 1.0f, quad.w + 1.0f));
  }
}
