// Loads and stores with cache hints, addresses of shared memory, copies.
#pragma once

#include "vector_types.h"

namespace cudal1_vgpu {

// A generic address as the global address that ld.global and st.global take.
CUDAL1_DEVICE unsigned long long global_address(const void* p) {
  return reinterpret_cast<unsigned long long>((__attribute__((address_space(1))) const char*)p);
}

// A vector of two or four numbers is moved by one instruction.
#define CUDAL1_HINTED_LOAD(name, hint, clobber)                                                                       \
  CUDAL1_DEVICE int4 name##_16(const void* p) {                                                                       \
    int4 v;                                                                                                           \
    asm volatile("ld.global." hint ".v4.u32 {%0, %1, %2, %3}, [%4];"                                                  \
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                                         \
                 : "l"(global_address(p))clobber);                                                                    \
    return v;                                                                                                         \
  }                                                                                                                   \
  CUDAL1_DEVICE int2 name##_8(const void* p) {                                                                        \
    int2 v;                                                                                                           \
    asm volatile("ld.global." hint ".v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(global_address(p))clobber); \
    return v;                                                                                                         \
  }                                                                                                                   \
  CUDAL1_DEVICE int name##_4(const void* p) {                                                                         \
    int v;                                                                                                            \
    asm volatile("ld.global." hint ".u32 %0, [%1];" : "=r"(v) : "l"(global_address(p))clobber);                       \
    return v;                                                                                                         \
  }                                                                                                                   \
  CUDAL1_DEVICE long long name##_scalar_8(const void* p) {                                                            \
    long long v;                                                                                                      \
    asm volatile("ld.global." hint ".u64 %0, [%1];" : "=l"(v) : "l"(global_address(p))clobber);                       \
    return v;                                                                                                         \
  }                                                                                                                   \
  CUDAL1_DEVICE short name##_2(const void* p) {                                                                       \
    short v;                                                                                                          \
    asm volatile("ld.global." hint ".u16 %0, [%1];" : "=h"(v) : "l"(global_address(p))clobber);                       \
    return v;                                                                                                         \
  }                                                                                                                   \
  CUDAL1_DEVICE signed char name##_1(const void* p) {                                                                 \
    short v;                                                                                                          \
    asm volatile("ld.global." hint ".u8 %0, [%1];" : "=h"(v) : "l"(global_address(p))clobber);                        \
    return static_cast<signed char>(v);                                                                               \
  }
#define CUDAL1_HINTED_STORE(name, hint)                                                                                \
  CUDAL1_DEVICE void name##_16(void* p, int4 v) {                                                                      \
    asm volatile("st.global." hint ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(global_address(p)), "r"(v.x), "r"(v.y),     \
                 "r"(v.z), "r"(v.w)                                                                                    \
                 : "memory");                                                                                          \
  }                                                                                                                    \
  CUDAL1_DEVICE void name##_8(void* p, int2 v) {                                                                       \
    asm volatile("st.global." hint ".v2.u32 [%0], {%1, %2};" ::"l"(global_address(p)), "r"(v.x), "r"(v.y) : "memory"); \
  }                                                                                                                    \
  CUDAL1_DEVICE void name##_4(void* p, int v) {                                                                        \
    asm volatile("st.global." hint ".u32 [%0], %1;" ::"l"(global_address(p)), "r"(v) : "memory");                      \
  }                                                                                                                    \
  CUDAL1_DEVICE void name##_scalar_8(void* p, long long v) {                                                           \
    asm volatile("st.global." hint ".u64 [%0], %1;" ::"l"(global_address(p)), "l"(v) : "memory");                      \
  }                                                                                                                    \
  CUDAL1_DEVICE void name##_2(void* p, short v) {                                                                      \
    asm volatile("st.global." hint ".u16 [%0], %1;" ::"l"(global_address(p)), "h"(v) : "memory");                      \
  }                                                                                                                    \
  CUDAL1_DEVICE void name##_1(void* p, signed char v) {                                                                \
    asm volatile("st.global." hint ".u8 [%0], %1;" ::"l"(global_address(p)), "h"(static_cast<short>(v)) : "memory");   \
  }

CUDAL1_HINTED_LOAD(load_nc, "nc", )
CUDAL1_HINTED_LOAD(load_cg, "cg", : "memory")
CUDAL1_HINTED_LOAD(load_ca, "ca", : "memory")
CUDAL1_HINTED_LOAD(load_cs, "cs", : "memory")
CUDAL1_HINTED_LOAD(load_lu, "lu", : "memory")
CUDAL1_HINTED_LOAD(load_cv, "cv", : "memory")
CUDAL1_HINTED_STORE(store_wb, "wb")
CUDAL1_HINTED_STORE(store_cg, "cg")
CUDAL1_HINTED_STORE(store_cs, "cs")
CUDAL1_HINTED_STORE(store_wt, "wt")
#undef CUDAL1_HINTED_LOAD
#undef CUDAL1_HINTED_STORE

}  // namespace cudal1_vgpu

#define CUDAL1_LOAD_OF(name, T, bytes, hint) \
  CUDAL1_DEVICE T name(const T* p) { return __builtin_bit_cast(T, cudal1_vgpu::hint##_##bytes(p)); }
#define CUDAL1_STORE_OF(name, T, Bits, bytes, hint) \
  CUDAL1_DEVICE void name(T* p, T value) { cudal1_vgpu::hint##_##bytes(p, __builtin_bit_cast(Bits, value)); }
#define CUDAL1_LOADS(name, hint)                           \
  CUDAL1_LOAD_OF(name, char, 1, hint)                      \
  CUDAL1_LOAD_OF(name, signed char, 1, hint)               \
  CUDAL1_LOAD_OF(name, unsigned char, 1, hint)             \
  CUDAL1_LOAD_OF(name, short, 2, hint)                     \
  CUDAL1_LOAD_OF(name, unsigned short, 2, hint)            \
  CUDAL1_LOAD_OF(name, int, 4, hint)                       \
  CUDAL1_LOAD_OF(name, unsigned int, 4, hint)              \
  CUDAL1_LOAD_OF(name, float, 4, hint)                     \
  CUDAL1_LOAD_OF(name, long, scalar_8, hint)               \
  CUDAL1_LOAD_OF(name, unsigned long, scalar_8, hint)      \
  CUDAL1_LOAD_OF(name, long long, scalar_8, hint)          \
  CUDAL1_LOAD_OF(name, unsigned long long, scalar_8, hint) \
  CUDAL1_LOAD_OF(name, double, scalar_8, hint)             \
  CUDAL1_LOAD_OF(name, char2, 2, hint)                     \
  CUDAL1_LOAD_OF(name, uchar2, 2, hint)                    \
  CUDAL1_LOAD_OF(name, char4, 4, hint)                     \
  CUDAL1_LOAD_OF(name, uchar4, 4, hint)                    \
  CUDAL1_LOAD_OF(name, short2, 4, hint)                    \
  CUDAL1_LOAD_OF(name, ushort2, 4, hint)                   \
  CUDAL1_LOAD_OF(name, short4, 8, hint)                    \
  CUDAL1_LOAD_OF(name, ushort4, 8, hint)                   \
  CUDAL1_LOAD_OF(name, int2, 8, hint)                      \
  CUDAL1_LOAD_OF(name, uint2, 8, hint)                     \
  CUDAL1_LOAD_OF(name, float2, 8, hint)                    \
  CUDAL1_LOAD_OF(name, int4, 16, hint)                     \
  CUDAL1_LOAD_OF(name, uint4, 16, hint)                    \
  CUDAL1_LOAD_OF(name, float4, 16, hint)                   \
  CUDAL1_LOAD_OF(name, longlong2, 16, hint)                \
  CUDAL1_LOAD_OF(name, ulonglong2, 16, hint)               \
  CUDAL1_LOAD_OF(name, double2, 16, hint)
#define CUDAL1_STORES(name, hint)                                      \
  CUDAL1_STORE_OF(name, char, signed char, 1, hint)                    \
  CUDAL1_STORE_OF(name, signed char, signed char, 1, hint)             \
  CUDAL1_STORE_OF(name, unsigned char, signed char, 1, hint)           \
  CUDAL1_STORE_OF(name, short, short, 2, hint)                         \
  CUDAL1_STORE_OF(name, unsigned short, short, 2, hint)                \
  CUDAL1_STORE_OF(name, int, int, 4, hint)                             \
  CUDAL1_STORE_OF(name, unsigned int, int, 4, hint)                    \
  CUDAL1_STORE_OF(name, float, int, 4, hint)                           \
  CUDAL1_STORE_OF(name, long, long long, scalar_8, hint)               \
  CUDAL1_STORE_OF(name, unsigned long, long long, scalar_8, hint)      \
  CUDAL1_STORE_OF(name, long long, long long, scalar_8, hint)          \
  CUDAL1_STORE_OF(name, unsigned long long, long long, scalar_8, hint) \
  CUDAL1_STORE_OF(name, double, long long, scalar_8, hint)             \
  CUDAL1_STORE_OF(name, char2, short, 2, hint)                         \
  CUDAL1_STORE_OF(name, uchar2, short, 2, hint)                        \
  CUDAL1_STORE_OF(name, char4, int, 4, hint)                           \
  CUDAL1_STORE_OF(name, uchar4, int, 4, hint)                          \
  CUDAL1_STORE_OF(name, short2, int, 4, hint)                          \
  CUDAL1_STORE_OF(name, ushort2, int, 4, hint)                         \
  CUDAL1_STORE_OF(name, short4, int2, 8, hint)                         \
  CUDAL1_STORE_OF(name, ushort4, int2, 8, hint)                        \
  CUDAL1_STORE_OF(name, int2, int2, 8, hint)                           \
  CUDAL1_STORE_OF(name, uint2, int2, 8, hint)                          \
  CUDAL1_STORE_OF(name, float2, int2, 8, hint)                         \
  CUDAL1_STORE_OF(name, int4, int4, 16, hint)                          \
  CUDAL1_STORE_OF(name, uint4, int4, 16, hint)                         \
  CUDAL1_STORE_OF(name, float4, int4, 16, hint)                        \
  CUDAL1_STORE_OF(name, longlong2, int4, 16, hint)                     \
  CUDAL1_STORE_OF(name, ulonglong2, int4, 16, hint)                    \
  CUDAL1_STORE_OF(name, double2, int4, 16, hint)

CUDAL1_LOADS(__ldg, load_nc)
CUDAL1_LOADS(__ldcg, load_cg)
CUDAL1_LOADS(__ldca, load_ca)
CUDAL1_LOADS(__ldcs, load_cs)
CUDAL1_LOADS(__ldlu, load_lu)
CUDAL1_LOADS(__ldcv, load_cv)
CUDAL1_STORES(__stwb, store_wb)
CUDAL1_STORES(__stcg, store_cg)
CUDAL1_STORES(__stcs, store_cs)
CUDAL1_STORES(__stwt, store_wt)

CUDAL1_DEVICE size_t __cvta_generic_to_shared(const void* p) {
  return (size_t)(__attribute__((address_space(3))) const char*)p;
}
CUDAL1_DEVICE size_t __cvta_generic_to_global(const void* p) {
  return (size_t)(__attribute__((address_space(1))) const char*)p;
}
CUDAL1_DEVICE void* __cvta_shared_to_generic(size_t address) {
  return (void*)(__attribute__((address_space(3))) char*)address;
}
CUDAL1_DEVICE void* __cvta_global_to_generic(size_t address) {
  return (void*)(__attribute__((address_space(1))) char*)address;
}
CUDAL1_DEVICE size_t __cvta_generic_to_local(const void* p) {
  return (size_t)(__attribute__((address_space(5))) const char*)p;
}
CUDAL1_DEVICE void* __cvta_local_to_generic(size_t address) {
  return (void*)(__attribute__((address_space(5))) char*)address;
}
CUDAL1_DEVICE size_t __cvta_generic_to_constant(const void* p) {
  return (size_t)(__attribute__((address_space(4))) const char*)p;
}
CUDAL1_DEVICE void* __cvta_constant_to_generic(size_t address) {
  return (void*)(__attribute__((address_space(4))) char*)address;
}
CUDAL1_DEVICE unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
CUDAL1_DEVICE unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
CUDAL1_DEVICE unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
CUDAL1_DEVICE unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }

CUDAL1_DEVICE void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
CUDAL1_DEVICE void* memmove(void* to, const void* from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
CUDAL1_DEVICE void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
