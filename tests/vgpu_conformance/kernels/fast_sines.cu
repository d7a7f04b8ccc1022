// Fast sines of large angles: the hardware rounds an angle before it takes the sine, and is as wrong as that.
//! let n = 1024
//! input x f32[n] between -3000 3000
//! buffer y f32[2*n] poison
//! launch compute grid=(n/128) block=(128) args=(x, y, i32:n)
//! reference fast_sines
//! check y relative 2e-6

__global__ void compute(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  y[i] = __sinf(x[i]);
  y[i + n] = __cosf(x[i]);
}
