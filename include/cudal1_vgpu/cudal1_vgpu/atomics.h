// Atomic operations on global and shared memory; the compiler finds out which of them a pointer means.
#pragma once

#include "vector_types.h"

// `scope` is empty for the device, cta_ for the block, sys_ for the system.
#define CUDAL1_ATOMIC(name, T, operation, scope, B)                                                              \
  CUDAL1_DEVICE T name(T* address, T value) {                                                                    \
    return static_cast<T>(__nvvm_atom_##scope##operation(reinterpret_cast<B*>(address), static_cast<B>(value))); \
  }

#define CUDAL1_ATOMICS_OF_INTEGERS(suffix, scope)                                                                   \
  CUDAL1_ATOMIC(atomicAdd##suffix, int, add_gen_i, scope, int)                                                      \
  CUDAL1_ATOMIC(atomicAdd##suffix, unsigned int, add_gen_i, scope, int)                                             \
  CUDAL1_ATOMIC(atomicAdd##suffix, unsigned long long, add_gen_ll, scope, long long)                                \
  CUDAL1_ATOMIC(atomicAdd##suffix, float, add_gen_f, scope, float)                                                  \
  CUDAL1_ATOMIC(atomicAdd##suffix, double, add_gen_d, scope, double)                                                \
  CUDAL1_ATOMIC(atomicMin##suffix, int, min_gen_i, scope, int)                                                      \
  CUDAL1_ATOMIC(atomicMin##suffix, unsigned int, min_gen_ui, scope, unsigned int)                                   \
  CUDAL1_ATOMIC(atomicMin##suffix, long long, min_gen_ll, scope, long long)                                         \
  CUDAL1_ATOMIC(atomicMin##suffix, unsigned long long, min_gen_ull, scope, unsigned long long)                      \
  CUDAL1_ATOMIC(atomicMax##suffix, int, max_gen_i, scope, int)                                                      \
  CUDAL1_ATOMIC(atomicMax##suffix, unsigned int, max_gen_ui, scope, unsigned int)                                   \
  CUDAL1_ATOMIC(atomicMax##suffix, long long, max_gen_ll, scope, long long)                                         \
  CUDAL1_ATOMIC(atomicMax##suffix, unsigned long long, max_gen_ull, scope, unsigned long long)                      \
  CUDAL1_ATOMIC(atomicAnd##suffix, int, and_gen_i, scope, int)                                                      \
  CUDAL1_ATOMIC(atomicAnd##suffix, unsigned int, and_gen_i, scope, int)                                             \
  CUDAL1_ATOMIC(atomicAnd##suffix, unsigned long long, and_gen_ll, scope, long long)                                \
  CUDAL1_ATOMIC(atomicAnd##suffix, long long, and_gen_ll, scope, long long)                                         \
  CUDAL1_ATOMIC(atomicOr##suffix, int, or_gen_i, scope, int)                                                        \
  CUDAL1_ATOMIC(atomicOr##suffix, unsigned int, or_gen_i, scope, int)                                               \
  CUDAL1_ATOMIC(atomicOr##suffix, unsigned long long, or_gen_ll, scope, long long)                                  \
  CUDAL1_ATOMIC(atomicOr##suffix, long long, or_gen_ll, scope, long long)                                           \
  CUDAL1_ATOMIC(atomicXor##suffix, int, xor_gen_i, scope, int)                                                      \
  CUDAL1_ATOMIC(atomicXor##suffix, unsigned int, xor_gen_i, scope, int)                                             \
  CUDAL1_ATOMIC(atomicXor##suffix, unsigned long long, xor_gen_ll, scope, long long)                                \
  CUDAL1_ATOMIC(atomicXor##suffix, long long, xor_gen_ll, scope, long long)                                         \
  CUDAL1_ATOMIC(atomicExch##suffix, int, xchg_gen_i, scope, int)                                                    \
  CUDAL1_ATOMIC(atomicExch##suffix, unsigned int, xchg_gen_i, scope, int)                                           \
  CUDAL1_ATOMIC(atomicExch##suffix, unsigned long long, xchg_gen_ll, scope, long long)                              \
  CUDAL1_ATOMIC(atomicInc##suffix, unsigned int, inc_gen_ui, scope, unsigned int)                                   \
  CUDAL1_ATOMIC(atomicDec##suffix, unsigned int, dec_gen_ui, scope, unsigned int)                                   \
  CUDAL1_DEVICE float atomicExch##suffix(float* address, float value) {                                             \
    return __builtin_bit_cast(float,                                                                                \
                              atomicExch##suffix(reinterpret_cast<int*>(address), __builtin_bit_cast(int, value))); \
  }                                                                                                                 \
  CUDAL1_DEVICE int atomicSub##suffix(int* address, int value) { return atomicAdd##suffix(address, -value); }       \
  CUDAL1_DEVICE unsigned int atomicSub##suffix(unsigned int* address, unsigned int value) {                         \
    return atomicAdd##suffix(address, 0u - value);                                                                  \
  }                                                                                                                 \
  CUDAL1_DEVICE int atomicCAS##suffix(int* address, int expected, int value) {                                      \
    return __nvvm_atom_##scope##cas_gen_i(address, expected, value);                                                \
  }                                                                                                                 \
  CUDAL1_DEVICE unsigned int atomicCAS##suffix(unsigned int* address, unsigned int expected, unsigned int value) {  \
    return static_cast<unsigned int>(__nvvm_atom_##scope##cas_gen_i(                                                \
        reinterpret_cast<int*>(address), static_cast<int>(expected), static_cast<int>(value)));                     \
  }                                                                                                                 \
  CUDAL1_DEVICE unsigned long long atomicCAS##suffix(unsigned long long* address, unsigned long long expected,      \
                                                     unsigned long long value) {                                    \
    return static_cast<unsigned long long>(__nvvm_atom_##scope##cas_gen_ll(                                         \
        reinterpret_cast<long long*>(address), static_cast<long long>(expected), static_cast<long long>(value)));   \
  }

CUDAL1_ATOMICS_OF_INTEGERS(, )
CUDAL1_ATOMICS_OF_INTEGERS(_block, cta_)
CUDAL1_ATOMICS_OF_INTEGERS(_system, sys_)
#undef CUDAL1_ATOMICS_OF_INTEGERS

// Vectors of floats: each part is added atomically, the vector as a whole is not.
#define CUDAL1_ATOMIC_ADD_OF_VECTORS(suffix)                                                         \
  CUDAL1_DEVICE float2 atomicAdd##suffix(float2* address, float2 value) {                            \
    return float2{atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y)}; \
  }                                                                                                  \
  CUDAL1_DEVICE float4 atomicAdd##suffix(float4* address, float4 value) {                            \
    return float4{atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y),  \
                  atomicAdd##suffix(&address->z, value.z), atomicAdd##suffix(&address->w, value.w)}; \
  }
CUDAL1_ATOMIC_ADD_OF_VECTORS()
CUDAL1_ATOMIC_ADD_OF_VECTORS(_block)
CUDAL1_ATOMIC_ADD_OF_VECTORS(_system)
#undef CUDAL1_ATOMIC_ADD_OF_VECTORS
#undef CUDAL1_ATOMIC

CUDAL1_DEVICE unsigned short atomicCAS(unsigned short* address, unsigned short expected, unsigned short value) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(address), "h"(expected), "h"(value) : "memory");
  return old;
}
