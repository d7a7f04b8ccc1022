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

namespace cudal1_vgpu {

// clang 14 takes its own barriers and fences for functions that leave a variable alone whose address nobody takes, and
// moves accesses of shared memory across them. Nothing moves across this.
CUDAL1_DEVICE void keep_accesses_apart() { asm volatile("" ::: "memory"); }
CUDAL1_DEVICE void sync_threads() {
  keep_accesses_apart();
  __syncthreads();
  keep_accesses_apart();
}

}  // namespace cudal1_vgpu

// A built-in function of the compiler, which has no definition that could be replaced.
#define __syncthreads() cudal1_vgpu::sync_threads()

#define CUDAL1_SYNC(name, operation)      \
  CUDAL1_DEVICE int name(int predicate) { \
    cudal1_vgpu::keep_accesses_apart();   \
    predicate = operation(predicate);     \
    cudal1_vgpu::keep_accesses_apart();   \
    return predicate;                     \
  }
CUDAL1_SYNC(__syncthreads_count, __nvvm_bar0_popc)
CUDAL1_SYNC(__syncthreads_and, __nvvm_bar0_and)
CUDAL1_SYNC(__syncthreads_or, __nvvm_bar0_or)
#undef CUDAL1_SYNC

CUDAL1_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) {
  cudal1_vgpu::keep_accesses_apart();
  __nvvm_bar_warp_sync(mask);
  cudal1_vgpu::keep_accesses_apart();
}

// Named barriers: of all threads of the block, or of as many as are said.
CUDAL1_DEVICE void __barrier_sync(unsigned int barrier) { asm volatile("barrier.sync %0;" ::"r"(barrier) : "memory"); }
CUDAL1_DEVICE void __barrier_sync_count(unsigned int barrier, unsigned int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

#define CUDAL1_FENCE(name, operation)   \
  CUDAL1_DEVICE void name() {           \
    cudal1_vgpu::keep_accesses_apart(); \
    operation();                        \
    cudal1_vgpu::keep_accesses_apart(); \
  }
CUDAL1_FENCE(__threadfence_block, __nvvm_membar_cta)
CUDAL1_FENCE(__threadfence, __nvvm_membar_gl)
CUDAL1_FENCE(__threadfence_system, __nvvm_membar_sys)
#undef CUDAL1_FENCE

CUDAL1_DEVICE void __trap() { asm volatile("trap;"); }
CUDAL1_DEVICE void __brkpt() { asm volatile("brkpt;"); }
CUDAL1_DEVICE void __nanosleep(unsigned int nanoseconds) { asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds)); }

typedef long clock_t;
CUDAL1_DEVICE clock_t clock() {
  int ticks;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(ticks)::"memory");
  return ticks;
}
CUDAL1_DEVICE long long clock64() {
  long long ticks;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(ticks)::"memory");
  return ticks;
}
