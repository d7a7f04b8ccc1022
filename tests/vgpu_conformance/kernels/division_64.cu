// Quotients and remainders of 32 and 64 bits, signed and unsigned, and by constants.
//! let n = 1024
//! input a i64[n] random
//! input b i64[n] random
//! buffer y i64[6*n] poison
//! launch divide grid=(n/128) block=(128) args=(a, b, y, i32:n)
//! reference division_64
//! check y exactly

__global__ void divide(const long long* a, const long long* b, long long* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const long long divisor = (b[i] >> (i % 40)) | 1;
  y[i] = a[i] / divisor;
  y[i + n] = a[i] % divisor;
  y[i + 2 * n] = static_cast<unsigned long long>(a[i]) / static_cast<unsigned long long>(divisor);
  y[i + 3 * n] = static_cast<int>(a[i]) / (static_cast<int>(b[i] >> 40) | 1);
  y[i + 4 * n] = static_cast<unsigned>(a[i]) % (static_cast<unsigned>(b[i] >> 50) | 1u);
  y[i + 5 * n] = a[i] / 1000000007 + static_cast<unsigned>(a[i]) / 10u;
}
