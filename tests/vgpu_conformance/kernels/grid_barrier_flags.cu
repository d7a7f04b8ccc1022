// Blocks in a ring: each waits for the flag of the one before, adds its number and passes the sum on.
//! let blocks = 12
//! buffer flags u32[blocks] zero
//! buffer sums u32[blocks] zero
//! launch pass_on grid=(blocks) block=(64) args=(flags, sums)
//! reference ring
//! check sums exactly

// The last block begins, so that blocks wait for ones with higher numbers.
__global__ void pass_on(volatile unsigned* flags, volatile unsigned* sums) {
  const unsigned before = blockIdx.x + 1;
  if (threadIdx.x != 0) return;
  unsigned sum = blockIdx.x;
  if (before < gridDim.x) {
    while (flags[before] == 0) {
    }
    __threadfence();
    sum += sums[before];
  }
  sums[blockIdx.x] = sum;
  __threadfence();
  flags[blockIdx.x] = 1;
}
