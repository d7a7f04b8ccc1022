// Copies from global to shared memory that run beside the computation (cp.async).
//
//   __shared__ __align__(16) float tile[1024];               // 256 threads bring 4 elements each
//   cudal1::copy_async<16>(tile + 4 * threadIdx.x, x + 4 * threadIdx.x);
//   cudal1::close_copies();                                  // those so far are one group
//   …                                                        // something else meanwhile
//   cudal1::wait_for_copies<0>();                            // this thread's are there,
//   __syncthreads();                                         // and so are everybody's
//
// Both addresses must be multiples of the bytes that are copied: 4, 8 or 16.
#pragma once

#include <cudal1/types.cuh>

namespace cudal1 {

CUDAL1_INLINE unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

//! The first `present` bytes; what is missing becomes zeros. Nothing is read where `present` is 0.
template <int bytes>
CUDAL1_INLINE void copy_async(void* shared, const void* global, int present) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "4, 8 or 16 bytes at a time");
  const unsigned to = shared_address(shared);
  if constexpr (bytes == 16)  // past the first cache: others of the block do not want it
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(present) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(bytes), "r"(present)
                 : "memory");
}

template <int bytes>
CUDAL1_INLINE void copy_async(void* shared, const void* global) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "4, 8 or 16 bytes at a time");
  const unsigned to = shared_address(shared);
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(bytes) : "memory");
}

//! The copies that this thread asked for since the last group become one.
CUDAL1_INLINE void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

//! All groups of this thread but the latest `open` are there. Other threads see them after a barrier.
template <int open>
CUDAL1_INLINE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}

}  // namespace cudal1
