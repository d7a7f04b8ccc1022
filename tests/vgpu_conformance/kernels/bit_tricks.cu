// Bits: counting, finding, reversing, funnel shifts, byte permutations, multiplications with 64-bit results.
//! let n = 1024
//! input a u32[n] random
//! input b u32[n] random
//! buffer y u32[10*n] poison
//! launch tricks grid=(n/128) block=(128) args=(a, b, y, i32:n)
//! reference bit_tricks
//! check y exactly

__global__ void tricks(const unsigned* a, const unsigned* b, unsigned* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const unsigned p = a[i] >> (i % 32), q = b[i];
  const unsigned long long wide = static_cast<unsigned long long>(p) << 32 | q;
  y[i] = __popc(p) + __popcll(wide) * 100;
  y[i + n] = __clz(p) + __clzll(wide) * 100;
  y[i + 2 * n] = __ffs(p) + __ffsll(wide) * 100;
  y[i + 3 * n] = __brev(q);
  y[i + 4 * n] = __funnelshift_l(p, q, i % 32);
  y[i + 5 * n] = __byte_perm(p, q, 0x6152);
  y[i + 6 * n] = __umulhi(p, q);
  y[i + 7 * n] = static_cast<unsigned>(__mulhi(static_cast<int>(p), static_cast<int>(q)));
  y[i + 8 * n] = __sad(static_cast<int>(p), static_cast<int>(q), 5u);
  y[i + 9 * n] = __rhadd(static_cast<int>(p), static_cast<int>(q)) ^ (p & (0u - p));
}
