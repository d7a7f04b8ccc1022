// Several arrays of different types in one piece of dynamic shared memory, beside a static one.
//! let n = 1024
//! input x f32[n] random
//! buffer y f64[n] poison
//! launch mix grid=(n/64) block=(64) shared=(64*(8+4+1)) args=(x, y)
//! reference dynamic_shared
//! check y exactly

extern __shared__ double pool[];

__global__ void mix(const float* x, double* y) {
  __shared__ int order[64];
  double* wide = pool;
  float* narrow = reinterpret_cast<float*>(pool + 64);
  unsigned char* bytes = reinterpret_cast<unsigned char*>(narrow + 64);
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  wide[t] = static_cast<double>(x[i]) * 2.0;
  narrow[t] = x[i];
  bytes[t] = static_cast<unsigned char>(t * 3);
  order[63 - t] = t;
  __syncthreads();
  y[i] = wide[order[t]] + narrow[(t + 1) % 64] + bytes[t ^ 5];
}
