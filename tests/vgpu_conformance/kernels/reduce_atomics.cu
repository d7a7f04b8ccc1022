// Sum, smallest, largest and bit-wise combinations of whole numbers, each by one atomic operation per thread.
//! let n = 5000
//! input x i32[n] random
//! buffer sum u32[1] zero
//! buffer wide u64[1] zero
//! buffer extremes i32[2] zero
//! buffer bits u32[3] zero
//! launch combine grid=((n+255)/256) block=(256) args=(x, sum, wide, extremes, bits, i32:n)
//! reference reduce_atomics
//! check sum exactly
//! check wide exactly
//! check extremes exactly
//! check bits exactly

__global__ void combine(const int* x, unsigned* sum, unsigned long long* wide, int* extremes, unsigned* bits, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const unsigned own = x[i];
  atomicAdd(sum, own);
  atomicAdd(wide, static_cast<unsigned long long>(own) << 8);
  atomicMin(&extremes[0], x[i]);
  atomicMax(&extremes[1], x[i]);
  atomicOr(&bits[0], own & 0x00ff00ffu);
  atomicXor(&bits[1], own);
  atomicAnd(&bits[2], own | 0xffff0000u);
}
