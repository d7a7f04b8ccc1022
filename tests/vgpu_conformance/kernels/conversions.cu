// Between floats and whole numbers: towards zero, to nearest, up, down, beyond the range, and bytes.
//! let n = 1024
//! input x f32[n] between -3000000000 3000000000
//! input k i32[n] random
//! buffer y i32[6*n] poison
//! buffer z f32[4*n] poison
//! launch convert grid=(n/128) block=(128) args=(x, k, y, z, i32:n)
//! reference conversions
//! check y exactly
//! check z exactly

__global__ void convert(const float* x, const int* k, int* y, float* z, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float v = i % 2 ? x[i] : x[i] * 1e-8f;
  y[i] = __float2int_rz(v);
  y[i + n] = __float2int_rn(v);
  y[i + 2 * n] = __float2int_ru(v);
  y[i + 3 * n] = __float2int_rd(v);
  y[i + 4 * n] = static_cast<int>(__float2uint_rz(v));
  y[i + 5 * n] = static_cast<signed char>(k[i]) + static_cast<unsigned char>(k[i] >> 8) * 1000;
  z[i] = static_cast<float>(k[i]);
  z[i + n] = static_cast<float>(static_cast<unsigned>(k[i]));
  z[i + 2 * n] = rintf(v) + floorf(v) - ceilf(v) + truncf(v);
  z[i + 3 * n] = static_cast<float>(static_cast<double>(k[i]) * 1.000000001);
}
