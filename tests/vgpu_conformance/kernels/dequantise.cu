// 4-bit and 8-bit integers to floats with a scale for every group of 32.
//! let n = 4096
//! input q u8[n/2] random
//! input b i8[n] random
//! input scales f32[n/32] between 0.01 0.1
//! buffer y f32[n] poison
//! buffer z f32[n] poison
//! launch unpack grid=(n/256) block=(256) args=(q, b, scales, y, z)
//! reference dequantise
//! check y exactly
//! check z exactly

__global__ void unpack(const unsigned char* q, const signed char* b, const float* scales, float* y, float* z) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int nibble = q[i / 2] >> (i % 2 * 4) & 15;
  y[i] = (nibble - 8) * scales[i / 32];
  z[i] = b[i] * scales[i / 32];
}
