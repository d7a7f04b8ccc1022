// The instructions for approximate functions, with the error that NVIDIA documents for each.
//! let n = 1024
//! input x f32[n] between 0.1 3
//! buffer y f32[7*n] poison
//! launch compute grid=(n/128) block=(128) args=(x, y, i32:n)
//! reference fast_functions
//! check y relative 2e-6

__global__ void compute(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float v = x[i];
  y[i] = __expf(v);
  y[i + n] = __logf(v);
  y[i + 2 * n] = __sinf(v);
  y[i + 3 * n] = __cosf(v);
  y[i + 4 * n] = rsqrtf(v);
  y[i + 5 * n] = __fdividef(1.0f, v);
  y[i + 6 * n] = exp2f(v);
}
