// Elementary functions as the headers write them: the same bits on every device.
//! let n = 1024
//! input x f32[n] between 0.01 5
//! buffer y f32[12*n] poison
//! launch compute grid=(n/128) block=(128) args=(x, y, i32:n)
//! reference elementary_functions
//! check y exactly, reference within 6 ulp

__global__ void compute(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float v = x[i];
  y[i] = expf(v);
  y[i + n] = logf(v);
  y[i + 2 * n] = sinf(v);
  y[i + 3 * n] = cosf(v);
  y[i + 4 * n] = tanhf(v);
  y[i + 5 * n] = powf(v, 1.7f);
  y[i + 6 * n] = erff(v);
  y[i + 7 * n] = cbrtf(v);
  y[i + 8 * n] = atan2f(v, 2.0f);
  y[i + 9 * n] = log1pf(v);
  y[i + 10 * n] = 1.0f / v;
  y[i + 11 * n] = sqrtf(v);
}
