// Copies from global to shared memory that run beside the program: cp.async.
#pragma once

#include "cudal1_vgpu/memory.h"

#define CUDAL1_COPY(cache, bytes)                                                                               \
  asm volatile("cp.async." cache ".shared.global [%0], [%1], " bytes ", %2;" ::"r"(to), "l"(from), "r"(present) \
               : "memory")

//! Copies 4, 8 or 16 bytes; the last `zero_filled` of them are zeros instead.
CUDAL1_DEVICE void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zero_filled = 0) {
  const unsigned int to = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
  const unsigned long long from = cudal1_vgpu::global_address(global);
  const unsigned int present = static_cast<unsigned int>(bytes - zero_filled);
  if (bytes == 16) CUDAL1_COPY("cg", "16");
  if (bytes == 8) CUDAL1_COPY("ca", "8");
  if (bytes == 4) CUDAL1_COPY("ca", "4");
}
#undef CUDAL1_COPY

CUDAL1_DEVICE void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// The number of groups is part of the instruction; more than eight waits for eight.
CUDAL1_DEVICE void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
    case 0:
      asm volatile("cp.async.wait_group 0;" ::: "memory");
      break;
    case 1:
      asm volatile("cp.async.wait_group 1;" ::: "memory");
      break;
    case 2:
      asm volatile("cp.async.wait_group 2;" ::: "memory");
      break;
    case 3:
      asm volatile("cp.async.wait_group 3;" ::: "memory");
      break;
    case 4:
      asm volatile("cp.async.wait_group 4;" ::: "memory");
      break;
    case 5:
      asm volatile("cp.async.wait_group 5;" ::: "memory");
      break;
    case 6:
      asm volatile("cp.async.wait_group 6;" ::: "memory");
      break;
    case 7:
      asm volatile("cp.async.wait_group 7;" ::: "memory");
      break;
    default:
      asm volatile("cp.async.wait_group 8;" ::: "memory");
      break;
  }
}
