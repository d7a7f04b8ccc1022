// Dot products of bytes, four at a time.
//! let n = 1024
//! let words = 16
//! input a i8[4*words*n] random
//! input b i8[4*words] random
//! buffer y i32[n] poison
//! launch dot grid=(n/128) block=(128) args=(a, b, y, i32:words)
//! reference byte_dots
//! check y exactly

__global__ void dot(const int* a, const int* b, int* y, int words) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < words; ++k) sum = __dp4a(a[i * words + k], b[k], sum);
  y[i] = sum;
}
