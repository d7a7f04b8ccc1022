// Every thread takes a lock, changes two numbers that no atomic could change together, and gives it back.
//! let threads = 256
//! buffer lock u32[1] zero
//! buffer pair u32[2] zero
//! launch count grid=(2) block=(threads/2) args=(lock, pair)
//! reference spin_lock
//! check lock exactly
//! check pair exactly

__global__ void count(unsigned* lock, volatile unsigned* pair) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0u, 1u) == 0u) {
      __threadfence();
      const unsigned own = pair[0] + 1;
      pair[0] = own;
      pair[1] = pair[1] + own;
      __threadfence();
      atomicExch(lock, 0u);
      done = true;
    }
  }
}
