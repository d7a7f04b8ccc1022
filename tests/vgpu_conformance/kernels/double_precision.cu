// Double precision: division, roots, fused operations, and a series that needs all digits.
//! let n = 1024
//! input x f64[n] between 0.1 3
//! buffer y f64[4*n] poison
//! launch compute grid=(n/128) block=(128) args=(x, y, i32:n)
//! reference double_precision
//! check y exactly, reference within 1 ulp

__global__ void compute(const double* x, double* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const double v = x[i];
  y[i] = 1.0 / v;
  y[i + n] = sqrt(v);
  y[i + 2 * n] = fma(v, v, -v * v);
  double sum = 0.0, term = 1.0;
  for (int k = 1; k < 20; ++k) {
    sum += term;
    term = term * v / k;
  }
  y[i + 3 * n] = sum;
}
