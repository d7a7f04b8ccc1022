// The same in bfloat16, where sums and products are made of fused multiply-adds.
//! let n = 2048
//! input x bf16[n] between -2 2
//! input z bf16[n] between -2 2
//! buffer y bf16[n] poison
//! launch combine grid=(n/512) block=(256) args=(x, z, y)
//! reference bf16x2_arithmetic
//! check y exactly
#include <cuda_bf16.h>

__global__ void combine(const __nv_bfloat162* x, const __nv_bfloat162* z, __nv_bfloat162* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const __nv_bfloat162 sum = __hadd2(x[i], z[i]), product = __hmul2(x[i], z[i]);
  const __nv_bfloat162 fused = __hfma2(sum, product, __hneg2(x[i]));
  y[i] = __hmin2(__hmax2(fused, __float2bfloat162_rn(-1.5f)), __float2bfloat162_rn(1.5f));
}
