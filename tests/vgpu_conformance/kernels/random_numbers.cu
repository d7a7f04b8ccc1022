// Random numbers by different generators: shifts, multiplications of 32 and 64 bits, remainders.
//! define METHOD=0 STEPS=256
//! variant xorshift_32: METHOD=0
//! variant xorshift_64: METHOD=1
//! variant congruential_32: METHOD=2
//! variant congruential_64: METHOD=3
//! variant remainder_32: METHOD=4
//! variant remainder_64: METHOD=5 STEPS=32
//! let n = 1048576 small 4096
//! input seeds u32[n] random
//! buffer y u32[n] poison
//! launch generate grid=(n/256) block=(256) args=(seeds, y)
//! reference random_numbers
//! check y exactly

__device__ unsigned long long advance(unsigned long long state) {
  unsigned low = static_cast<unsigned>(state);
  switch (METHOD) {
    case 0:
      low ^= low << 13;
      low ^= low >> 17;
      return low ^ (low << 5);
    case 1:
      state ^= state << 13;
      state ^= state >> 7;
      return state ^ (state << 17);
    case 2:
      return low * 1664525u + 1013904223u;
    case 3:
      return state * 6364136223846793005ull + 1442695040888963407ull;
    case 4:
      return low % 65521u * 16807u + 12345u % (low | 1u);
    default:
      return (state | 1ull << 40) % 2147483647ull * 48271ull + 1000000007ull % (state | 1ull);
  }
}

__global__ void generate(const unsigned* seeds, unsigned* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  unsigned long long state = seeds[i] | 1u;
  for (int step = 0; step < STEPS; ++step) state = advance(state);
  y[i] = static_cast<unsigned>(state ^ (state >> 32));
}
