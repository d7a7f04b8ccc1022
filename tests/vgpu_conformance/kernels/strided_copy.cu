// Copies what lies STRIDE elements apart into one piece, then the elements after those.
//! define STRIDE=1 OFFSET=0
//! variant stride_1: STRIDE=1
//! variant misaligned: OFFSET=1
//! variant stride_2: STRIDE=2
//! variant stride_4: STRIDE=4
//! variant stride_8: STRIDE=8
//! variant stride_32: STRIDE=32
//! let n = 8388608 small 8192
//! input x f32[n+1] random
//! buffer y f32[n] poison
//! launch gather grid=(n/256) block=(256) args=(x, y, i32:n)
//! reference strided_copy
//! check y exactly

__global__ void gather(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x, row = n / STRIDE;
  y[i] = x[i % row * STRIDE + i / row + OFFSET];
}
