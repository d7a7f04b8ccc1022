// Half precision one at a time, in float and back: rounding of sums, quotients and roots.
//! let n = 2048
//! input x f16[n] between 0.001 60
//! input z f16[n] between 0.001 60
//! buffer y f16[4*n] poison
//! launch combine grid=(n/256) block=(256) args=(x, z, y, i32:n)
//! reference half_scalars
//! check y exactly
#include <cuda_fp16.h>

__global__ void combine(const __half* x, const __half* z, __half* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float a = __half2float(x[i]), b = __half2float(z[i]);
  y[i] = __float2half(a + b);
  y[i + n] = __float2half(a / b);
  y[i + 2 * n] = __float2half(sqrtf(a));
  y[i + 3 * n] = __float2half(a * b * 100.0f);
}
