// What has no atomic of its own, by compare and swap: largest float, product modulo a prime, byte counters in a word.
//! let n = 2048
//! input x f32[n] random
//! input k u32[n] below 1000
//! buffer largest u32[1] zero
//! buffer product u64[1] one
//! buffer bytes u32[2] zero
//! launch combine grid=(n/256) block=(256) args=(x, k, largest, product, bytes)
//! reference cas_loops
//! check largest exactly
//! check product exactly
//! check bytes exactly

__device__ void largest_float(unsigned* at, float value) {
  unsigned seen = *at;
  while (__uint_as_float(seen) < value) {
    const unsigned before = atomicCAS(at, seen, __float_as_uint(value));
    if (before == seen) break;
    seen = before;
  }
}

__device__ void multiply(unsigned long long* at, unsigned long long factor) {
  unsigned long long seen = *at, expected;
  do {
    expected = seen;
    seen = atomicCAS(at, expected, expected * factor % 1000000007ull);
  } while (seen != expected);
}

__device__ void count_byte(unsigned* words, unsigned byte) {
  unsigned* at = words + byte / 4;
  const int shift = byte % 4 * 8;
  unsigned seen = *at, expected;
  do {
    expected = seen;
    const unsigned next = ((expected >> shift) + 1u) & 255u;
    seen = atomicCAS(at, expected, (expected & ~(255u << shift)) | next << shift);
  } while (seen != expected);
}

__global__ void combine(const float* x, const unsigned* k, unsigned* largest, unsigned long long* product,
                        unsigned* bytes) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  largest_float(largest, x[i]);
  if (k[i] % 16 == 1) multiply(product, k[i]);
  count_byte(bytes, k[i] % 8);
}
