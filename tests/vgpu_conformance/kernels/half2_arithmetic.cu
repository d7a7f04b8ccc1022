// Pairs of half-precision numbers: sums, products, fused, least and greatest, comparisons.
//! let n = 2048
//! input x f16[n] between -2 2
//! input z f16[n] between -2 2
//! buffer y f16[n] poison
//! launch combine grid=(n/512) block=(256) args=(x, z, y)
//! reference half2_arithmetic
//! check y exactly
#include <cuda_fp16.h>

__global__ void combine(const __half2* x, const __half2* z, __half2* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const __half2 sum = __hadd2(x[i], z[i]), product = __hmul2(x[i], z[i]);
  const __half2 fused = __hfma2(sum, product, __hneg2(x[i]));
  const __half2 clamped = __hmin2(__hmax2(fused, __float2half2_rn(-1.5f)), __float2half2_rn(1.5f));
  y[i] = __hsub2(clamped, __habs2(product));
}
