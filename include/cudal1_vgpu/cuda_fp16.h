// IEEE half precision: conversions and arithmetic are PTX instructions.
#pragma once

#include "cudal1_vgpu/half_functions.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

namespace cudal1_vgpu {

CUDAL1_DEVICE unsigned short __half_raw_from(float v) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
}
CUDAL1_DEVICE unsigned short __half_raw_from(double v) {
  unsigned short bits;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(v));
  return bits;
}
CUDAL1_DEVICE float __half_raw_to_float(unsigned short bits) {
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
  return v;
}

}  // namespace cudal1_vgpu

struct __half {
  CUDAL1_HALF_MEMBERS(__half, __half_raw)
};
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  CUDAL1_MEMBER __half2(const __half& a, const __half& b) : x(a), y(b) {}
  CUDAL1_MEMBER __half2(__half2_raw r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

namespace cudal1_vgpu {

#define CUDAL1_HALF_INSTRUCTION_1(name, instruction)                                    \
  CUDAL1_DEVICE __half name(__half a) {                                                 \
    unsigned short r;                                                                   \
    asm(instruction ".f16 %0, %1;" : "=h"(r) : "h"(a.__x));                             \
    return __half_raw{r};                                                               \
  }                                                                                     \
  CUDAL1_DEVICE __half2 name(__half2 a) {                                               \
    unsigned r;                                                                         \
    asm(instruction ".f16x2 %0, %1;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a))); \
    return __builtin_bit_cast(__half2, r);                                              \
  }
#define CUDAL1_HALF_INSTRUCTION_2(name, instruction)                                   \
  CUDAL1_DEVICE __half name(__half a, __half b) {                                      \
    unsigned short r;                                                                  \
    asm(instruction ".f16 %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x));            \
    return __half_raw{r};                                                              \
  }                                                                                    \
  CUDAL1_DEVICE __half2 name(__half2 a, __half2 b) {                                   \
    unsigned r;                                                                        \
    asm(instruction ".f16x2 %0, %1, %2;"                                               \
        : "=r"(r)                                                                      \
        : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b))); \
    return __builtin_bit_cast(__half2, r);                                             \
  }
#define CUDAL1_HALF_INSTRUCTION_3(name, instruction)                                        \
  CUDAL1_DEVICE __half name(__half a, __half b, __half c) {                                 \
    unsigned short r;                                                                       \
    asm(instruction ".f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x)); \
    return __half_raw{r};                                                                   \
  }                                                                                         \
  CUDAL1_DEVICE __half2 name(__half2 a, __half2 b, __half2 c) {                             \
    unsigned r;                                                                             \
    asm(instruction ".f16x2 %0, %1, %2, %3;"                                                \
        : "=r"(r)                                                                           \
        : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)),       \
          "r"(__builtin_bit_cast(unsigned, c)));                                            \
    return __builtin_bit_cast(__half2, r);                                                  \
  }
CUDAL1_HALF_INSTRUCTION_1(h_neg, "neg")
CUDAL1_HALF_INSTRUCTION_1(h_abs, "abs")
CUDAL1_HALF_INSTRUCTION_1(h_tanh, "tanh.approx")
CUDAL1_HALF_INSTRUCTION_2(h_add, "add.rn")
CUDAL1_HALF_INSTRUCTION_2(h_sub, "sub.rn")
CUDAL1_HALF_INSTRUCTION_2(h_mul, "mul.rn")
CUDAL1_HALF_INSTRUCTION_2(h_min, "min")
CUDAL1_HALF_INSTRUCTION_2(h_max, "max")
CUDAL1_HALF_INSTRUCTION_2(h_min_nan, "min.NaN")
CUDAL1_HALF_INSTRUCTION_2(h_max_nan, "max.NaN")
CUDAL1_HALF_INSTRUCTION_2(h_add_saturated, "add.rn.sat")
CUDAL1_HALF_INSTRUCTION_2(h_sub_saturated, "sub.rn.sat")
CUDAL1_HALF_INSTRUCTION_2(h_mul_saturated, "mul.rn.sat")
CUDAL1_HALF_INSTRUCTION_3(h_fma, "fma.rn")
CUDAL1_HALF_INSTRUCTION_3(h_fma_saturated, "fma.rn.sat")
CUDAL1_HALF_INSTRUCTION_3(h_fma_relu, "fma.rn.relu")
#undef CUDAL1_HALF_INSTRUCTION_1
#undef CUDAL1_HALF_INSTRUCTION_2
#undef CUDAL1_HALF_INSTRUCTION_3

}  // namespace cudal1_vgpu

CUDAL1_HALF_ARITHMETIC(__half, __half2)
CUDAL1_HALF_COMPARISONS(__half, __half2)
CUDAL1_HALF_OPERATORS(__half, __half2)
CUDAL1_HALF_FUNCTIONS(__half, __half2)
CUDAL1_HALF_MEMORY(__half, __half2)
CUDAL1_DEVICE __half htanh_approx(__half a) { return cudal1_vgpu::h_tanh(a); }
CUDAL1_DEVICE __half2 h2tanh_approx(__half2 a) { return cudal1_vgpu::h_tanh(a); }

// --- conversions
// -------------------------------------------------------------------------------------------------------

CUDAL1_DEVICE float __half2float(__half a) { return a; }
CUDAL1_DEVICE __half __float2half(float a) { return __half(a); }
CUDAL1_DEVICE __half __double2half(double a) { return __half(a); }
#define CUDAL1_CONVERT_TO_HALF(name, From, constraint, instruction) \
  CUDAL1_DEVICE __half name(From a) {                               \
    unsigned short r;                                               \
    asm("cvt." instruction " %0, %1;" : "=h"(r) : constraint(a));   \
    return __half_raw{r};                                           \
  }
#define CUDAL1_HALF_CONVERSIONS(mode, ptx_mode)                                           \
  CUDAL1_CONVERT_TO_HALF(__float2half_##mode, float, "f", ptx_mode ".f16.f32")            \
  CUDAL1_CONVERT_TO_HALF(__int2half_##mode, int, "r", ptx_mode ".f16.s32")                \
  CUDAL1_CONVERT_TO_HALF(__uint2half_##mode, unsigned int, "r", ptx_mode ".f16.u32")      \
  CUDAL1_CONVERT_TO_HALF(__ll2half_##mode, long long, "l", ptx_mode ".f16.s64")           \
  CUDAL1_CONVERT_TO_HALF(__ull2half_##mode, unsigned long long, "l", ptx_mode ".f16.u64") \
  CUDAL1_CONVERT_TO_HALF(__short2half_##mode, short, "h", ptx_mode ".f16.s16")            \
  CUDAL1_CONVERT_TO_HALF(__ushort2half_##mode, unsigned short, "h", ptx_mode ".f16.u16")  \
  CUDAL1_HALF_TO_INTEGERS(__half, half, mode)
CUDAL1_HALF_CONVERSIONS(rn, "rn")
CUDAL1_HALF_CONVERSIONS(rz, "rz")
CUDAL1_HALF_CONVERSIONS(rd, "rm")
CUDAL1_HALF_CONVERSIONS(ru, "rp")
#undef CUDAL1_HALF_CONVERSIONS
#undef CUDAL1_CONVERT_TO_HALF
CUDAL1_HALF_TO_SMALL_INTEGERS(__half, half)
CUDAL1_DEVICE __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
CUDAL1_DEVICE __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
CUDAL1_DEVICE __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
CUDAL1_DEVICE float2 __half22float2(__half2 a) { return make_float2(a.x, a.y); }
CUDAL1_DEVICE float __low2float(__half2 a) { return a.x; }
CUDAL1_DEVICE float __high2float(__half2 a) { return a.y; }
CUDAL1_DEVICE __half __low2half(__half2 a) { return a.x; }
CUDAL1_DEVICE __half __high2half(__half2 a) { return a.y; }
CUDAL1_DEVICE __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
CUDAL1_DEVICE __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
CUDAL1_DEVICE __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
CUDAL1_DEVICE __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
CUDAL1_DEVICE __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
CUDAL1_DEVICE __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
CUDAL1_DEVICE __half2 __half2half2(__half a) { return __half2(a, a); }
CUDAL1_DEVICE __half2 make_half2(__half a, __half b) { return __half2(a, b); }
CUDAL1_DEVICE unsigned short __half_as_ushort(__half a) { return a.__x; }
CUDAL1_DEVICE short __half_as_short(__half a) { return static_cast<short>(a.__x); }
CUDAL1_DEVICE __half __ushort_as_half(unsigned short a) { return __half_raw{a}; }
CUDAL1_DEVICE __half __short_as_half(short a) { return __half_raw{static_cast<unsigned short>(a)}; }

// --- atomics
// -------------------------------------------------------------------------------------------------------------

CUDAL1_DEVICE __half2 atomicAdd(__half2* address, __half2 value) {
  unsigned old;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(__builtin_bit_cast(unsigned, value))
               : "memory");
  return __builtin_bit_cast(__half2, old);
}
CUDAL1_DEVICE __half atomicAdd(__half* address, __half value) {
  unsigned short old;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(address), "h"(value.__x) : "memory");
  return __half_raw{old};
}
