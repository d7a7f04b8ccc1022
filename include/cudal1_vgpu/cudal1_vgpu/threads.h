// Who am I, barriers, fences and clocks.
#pragma once

#include "vector_types.h"

// Each member is read from its special register at the place of use; assigning to one does not compile.
#define CUDAL1_SPECIAL_REGISTER(field, builtin)                                                          \
  __declspec(property(get = cudal1_read_##field)) unsigned int field;                                    \
  static __inline__ __attribute__((device, always_inline, nodebug)) unsigned int cudal1_read_##field() { \
    return builtin();                                                                                    \
  }
#define CUDAL1_SPECIAL_TYPE(name, stem)                                                             \
  struct cudal1_##name##_type {                                                                     \
    CUDAL1_SPECIAL_REGISTER(x, stem##_x)                                                            \
    CUDAL1_SPECIAL_REGISTER(y, stem##_y)                                                            \
    CUDAL1_SPECIAL_REGISTER(z, stem##_z)                                                            \
    CUDAL1_MEMBER operator uint3() const { return make_uint3(stem##_x(), stem##_y(), stem##_z()); } \
    CUDAL1_MEMBER operator dim3() const { return dim3(stem##_x(), stem##_y(), stem##_z()); }        \
    cudal1_##name##_type() = default;                                                               \
    cudal1_##name##_type(const cudal1_##name##_type&) = delete;                                     \
    void operator=(const cudal1_##name##_type&) const = delete;                                     \
  };                                                                                                \
  extern const __device__ __attribute__((weak)) cudal1_##name##_type name;

CUDAL1_SPECIAL_TYPE(threadIdx, __nvvm_read_ptx_sreg_tid)
CUDAL1_SPECIAL_TYPE(blockIdx, __nvvm_read_ptx_sreg_ctaid)
CUDAL1_SPECIAL_TYPE(blockDim, __nvvm_read_ptx_sreg_ntid)
CUDAL1_SPECIAL_TYPE(gridDim, __nvvm_read_ptx_sreg_nctaid)
#undef CUDAL1_SPECIAL_TYPE
#undef CUDAL1_SPECIAL_REGISTER

__device__ constexpr int warpSize = 32;

// clang's own intrinsics leave alone, it believes (14 does), variables whose address nobody takes: it carries values of
// __shared__ ones across a barrier. Not across assembly that may change memory.
#define CUDAL1_OTHERS_MAY_WRITE asm volatile("" ::: "memory")
CUDAL1_DEVICE void cudal1_syncthreads() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() cudal1_syncthreads()
#define CUDAL1_BARRIER(name, intrinsic)      \
  CUDAL1_DEVICE int name(int predicate) {    \
    CUDAL1_OTHERS_MAY_WRITE;                 \
    const int result = intrinsic(predicate); \
    CUDAL1_OTHERS_MAY_WRITE;                 \
    return result;                           \
  }
CUDAL1_BARRIER(__syncthreads_count, __nvvm_bar0_popc)
CUDAL1_BARRIER(__syncthreads_and, __nvvm_bar0_and)
CUDAL1_BARRIER(__syncthreads_or, __nvvm_bar0_or)
#undef CUDAL1_BARRIER
#undef CUDAL1_OTHERS_MAY_WRITE
CUDAL1_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) {
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}

CUDAL1_DEVICE void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
CUDAL1_DEVICE void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
CUDAL1_DEVICE void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }

CUDAL1_DEVICE void __trap() { asm volatile("trap;"); }
CUDAL1_DEVICE void __brkpt() { asm volatile("brkpt;"); }
CUDAL1_DEVICE void __nanosleep(unsigned int nanoseconds) { asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds)); }

CUDAL1_DEVICE int clock() {
  int ticks;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(ticks)::"memory");
  return ticks;
}
CUDAL1_DEVICE long long clock64() {
  long long ticks;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(ticks)::"memory");
  return ticks;
}
