// Fourier transforms of pieces of SIZE complex numbers in shared memory, radix 2.
//! define SIZE=512 BLOCK=256 FAST=1 ERROR=1e-5
//! variant size_256: SIZE=256 BLOCK=128
//! variant size_512: SIZE=512 BLOCK=256
//! variant size_1024: SIZE=1024 BLOCK=512
//! variant size_1024_few_threads: SIZE=1024 BLOCK=128
//! variant size_2048: SIZE=2048 BLOCK=512
//! variant size_512_precise: SIZE=512 BLOCK=256 FAST=0
//! let n = 1048576 small 4096
//! buffer x f32[2*n] between -1 1
//! launch fft grid=(n/SIZE) block=(BLOCK) args=(x)
//! reference fft_pieces
//! check x relative ERROR

__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__device__ float2 unit(float angle) {
  float2 at;
  if (FAST)
    __sincosf(angle, &at.y, &at.x);
  else
    sincosf(angle, &at.y, &at.x);
  return at;
}

constexpr int log2_of(int size) { return size == 1 ? 0 : 1 + log2_of(size / 2); }

__global__ void fft(float2* x) {
  __shared__ float2 piece[SIZE];
  float2* own = x + blockIdx.x * SIZE;
  for (int i = threadIdx.x; i < SIZE; i += BLOCK) piece[__brev(i) >> (32 - log2_of(SIZE))] = own[i];
  for (int half = 1; half < SIZE; half *= 2) {
    __syncthreads();
    for (int pair = threadIdx.x; pair < SIZE / 2; pair += BLOCK) {
      const int low = 2 * pair - pair % half, high = low + half;
      const float2 turned = times(unit(-3.14159265f * (pair % half) / half), piece[high]), sum = piece[low];
      piece[low] = make_float2(sum.x + turned.x, sum.y + turned.y);
      piece[high] = make_float2(sum.x - turned.x, sum.y - turned.y);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SIZE; i += BLOCK) own[i] = piece[i];
}
