// Each thread walks through shared memory; STRIDE words between neighbours decide how many share a bank.
//! define STRIDE=1
//! variant stride_1: STRIDE=1
//! variant stride_2: STRIDE=2
//! variant stride_4: STRIDE=4
//! variant stride_8: STRIDE=8
//! variant stride_16: STRIDE=16
//! variant stride_32: STRIDE=32
//! variant stride_33: STRIDE=33
//! let blocks = 1024 small 4
//! let rounds = 256 small 16
//! input x u32[2048] random
//! buffer y u32[blocks*256] poison
//! launch walk grid=(blocks) block=(256) args=(x, y, i32:rounds)
//! reference shared_stride
//! check y exactly

__global__ void walk(const unsigned* x, unsigned* y, int rounds) {
  __shared__ unsigned words[2048];
  for (int i = threadIdx.x; i < 2048; i += 256) words[i] = x[i];
  __syncthreads();
  unsigned sum = blockIdx.x, at = threadIdx.x * STRIDE;
  for (int i = 0; i < rounds; ++i, at += 1) sum = sum * 3u + words[at % 2048];
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}
