// bfloat16. sm_80 has fused multiply-add, minimum, maximum, negation and conversion; the rest is made of them.
#pragma once

#include "cudal1_vgpu/half_functions.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

namespace cudal1_vgpu {

CUDAL1_DEVICE unsigned short __nv_bfloat16_raw_from(float v) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
}
// To float with the lost bits gathered in the last one (rounding to odd), so that the second rounding is right.
CUDAL1_DEVICE unsigned short __nv_bfloat16_raw_from(double v) {
  float near = static_cast<float>(v);
  if (isfinite(near) && static_cast<double>(near) != v) {
    const bool above = __builtin_fabs(static_cast<double>(near)) > __builtin_fabs(v);
    near = float_of((bits_of(near) - (above ? 1u : 0u)) | 1u);
  }
  return __nv_bfloat16_raw_from(near);
}
CUDAL1_DEVICE float __nv_bfloat16_raw_to_float(unsigned short bits) {
  return float_of(static_cast<unsigned>(bits) << 16);
}

}  // namespace cudal1_vgpu

struct __nv_bfloat16 {
  CUDAL1_HALF_MEMBERS(__nv_bfloat16, __nv_bfloat16_raw)
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  CUDAL1_MEMBER __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
  CUDAL1_MEMBER __nv_bfloat162(__nv_bfloat162_raw r) : x(__nv_bfloat16_raw{r.x}), y(__nv_bfloat16_raw{r.y}) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

namespace cudal1_vgpu {

#define CUDAL1_BF16_INSTRUCTION_1(name, instruction)                                     \
  CUDAL1_DEVICE __nv_bfloat16 name(__nv_bfloat16 a) {                                    \
    unsigned short r;                                                                    \
    asm(instruction ".bf16 %0, %1;" : "=h"(r) : "h"(a.__x));                             \
    return __nv_bfloat16_raw{r};                                                         \
  }                                                                                      \
  CUDAL1_DEVICE __nv_bfloat162 name(__nv_bfloat162 a) {                                  \
    unsigned r;                                                                          \
    asm(instruction ".bf16x2 %0, %1;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a))); \
    return __builtin_bit_cast(__nv_bfloat162, r);                                        \
  }
#define CUDAL1_BF16_INSTRUCTION_2(name, instruction)                                   \
  CUDAL1_DEVICE __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b) {                 \
    unsigned short r;                                                                  \
    asm(instruction ".bf16 %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x));           \
    return __nv_bfloat16_raw{r};                                                       \
  }                                                                                    \
  CUDAL1_DEVICE __nv_bfloat162 name(__nv_bfloat162 a, __nv_bfloat162 b) {              \
    unsigned r;                                                                        \
    asm(instruction ".bf16x2 %0, %1, %2;"                                              \
        : "=r"(r)                                                                      \
        : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b))); \
    return __builtin_bit_cast(__nv_bfloat162, r);                                      \
  }
#define CUDAL1_BF16_INSTRUCTION_3(name, instruction)                                         \
  CUDAL1_DEVICE __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {      \
    unsigned short r;                                                                        \
    asm(instruction ".bf16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x)); \
    return __nv_bfloat16_raw{r};                                                             \
  }                                                                                          \
  CUDAL1_DEVICE __nv_bfloat162 name(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {  \
    unsigned r;                                                                              \
    asm(instruction ".bf16x2 %0, %1, %2, %3;"                                                \
        : "=r"(r)                                                                            \
        : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)),        \
          "r"(__builtin_bit_cast(unsigned, c)));                                             \
    return __builtin_bit_cast(__nv_bfloat162, r);                                            \
  }
CUDAL1_BF16_INSTRUCTION_1(h_neg, "neg")
CUDAL1_BF16_INSTRUCTION_1(h_abs, "abs")
CUDAL1_BF16_INSTRUCTION_2(h_min, "min")
CUDAL1_BF16_INSTRUCTION_2(h_max, "max")
CUDAL1_BF16_INSTRUCTION_2(h_min_nan, "min.NaN")
CUDAL1_BF16_INSTRUCTION_2(h_max_nan, "max.NaN")
CUDAL1_BF16_INSTRUCTION_3(h_fma, "fma.rn")
CUDAL1_BF16_INSTRUCTION_3(h_fma_relu, "fma.rn.relu")
#undef CUDAL1_BF16_INSTRUCTION_1
#undef CUDAL1_BF16_INSTRUCTION_2
#undef CUDAL1_BF16_INSTRUCTION_3

CUDAL1_DEVICE __nv_bfloat16 bf16_of(unsigned short bits) { return __nv_bfloat16_raw{bits}; }
CUDAL1_DEVICE __nv_bfloat162 bf16_pair_of(unsigned short bits) { return __nv_bfloat162(bf16_of(bits), bf16_of(bits)); }

// a + b = a * 1 + b, a - b = b * -1 + a, a * b = a * b + -0; each rounds once.
CUDAL1_DEVICE __nv_bfloat16 h_add(__nv_bfloat16 a, __nv_bfloat16 b) { return h_fma(a, bf16_of(0x3f80), b); }
CUDAL1_DEVICE __nv_bfloat16 h_sub(__nv_bfloat16 a, __nv_bfloat16 b) { return h_fma(b, bf16_of(0xbf80), a); }
CUDAL1_DEVICE __nv_bfloat16 h_mul(__nv_bfloat16 a, __nv_bfloat16 b) { return h_fma(a, b, bf16_of(0x8000)); }
CUDAL1_DEVICE __nv_bfloat162 h_add(__nv_bfloat162 a, __nv_bfloat162 b) { return h_fma(a, bf16_pair_of(0x3f80), b); }
CUDAL1_DEVICE __nv_bfloat162 h_sub(__nv_bfloat162 a, __nv_bfloat162 b) { return h_fma(b, bf16_pair_of(0xbf80), a); }
CUDAL1_DEVICE __nv_bfloat162 h_mul(__nv_bfloat162 a, __nv_bfloat162 b) { return h_fma(a, b, bf16_pair_of(0x8000)); }

// Saturated: between 0 and 1, NaN gives 0.
CUDAL1_DEVICE __nv_bfloat16 saturated(__nv_bfloat16 a) { return __nv_bfloat16(saturatef(static_cast<float>(a))); }
CUDAL1_DEVICE __nv_bfloat162 saturated(__nv_bfloat162 a) { return __nv_bfloat162(saturated(a.x), saturated(a.y)); }
template <class T>
CUDAL1_DEVICE T h_add_saturated(T a, T b) {
  return saturated(h_add(a, b));
}
template <class T>
CUDAL1_DEVICE T h_sub_saturated(T a, T b) {
  return saturated(h_sub(a, b));
}
template <class T>
CUDAL1_DEVICE T h_mul_saturated(T a, T b) {
  return saturated(h_mul(a, b));
}
template <class T>
CUDAL1_DEVICE T h_fma_saturated(T a, T b, T c) {
  return saturated(h_fma(a, b, c));
}

}  // namespace cudal1_vgpu

CUDAL1_HALF_ARITHMETIC(__nv_bfloat16, __nv_bfloat162)
CUDAL1_HALF_COMPARISONS(__nv_bfloat16, __nv_bfloat162)
CUDAL1_HALF_OPERATORS(__nv_bfloat16, __nv_bfloat162)
CUDAL1_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
CUDAL1_HALF_MEMORY(__nv_bfloat16, __nv_bfloat162)
CUDAL1_HALF_FUNCTION(__nv_bfloat16, __nv_bfloat162, tanh_approx, __tanhf)

// --- conversions
// -------------------------------------------------------------------------------------------------------

CUDAL1_DEVICE float __bfloat162float(__nv_bfloat16 a) { return a; }
CUDAL1_DEVICE __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
CUDAL1_DEVICE __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
CUDAL1_DEVICE __nv_bfloat16 __float2bfloat16_rz(float a) {
  unsigned short r;
  asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(r) : "f"(a));
  return __nv_bfloat16_raw{r};
}
CUDAL1_DEVICE __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
CUDAL1_DEVICE __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  unsigned r;  // the instruction names the upper half first
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
  return __builtin_bit_cast(__nv_bfloat162, r);
}
CUDAL1_DEVICE __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }
CUDAL1_DEVICE __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
CUDAL1_DEVICE float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(a.x, a.y); }
CUDAL1_DEVICE float __low2float(__nv_bfloat162 a) { return a.x; }
CUDAL1_DEVICE float __high2float(__nv_bfloat162 a) { return a.y; }
CUDAL1_DEVICE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
CUDAL1_DEVICE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
CUDAL1_DEVICE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
CUDAL1_DEVICE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
CUDAL1_DEVICE __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
CUDAL1_DEVICE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
CUDAL1_DEVICE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
CUDAL1_DEVICE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
CUDAL1_DEVICE unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.__x; }
CUDAL1_DEVICE short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.__x); }
CUDAL1_DEVICE __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16_raw{a}; }
CUDAL1_DEVICE __nv_bfloat16 __short_as_bfloat16(short a) { return __nv_bfloat16_raw{static_cast<unsigned short>(a)}; }
CUDAL1_DEVICE __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
CUDAL1_DEVICE __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }

namespace cudal1_vgpu {

// Up or down: what is cut off moves one of the two directions away from zero.
CUDAL1_DEVICE __nv_bfloat16 bf16_towards(float a, bool upwards) {
  if (isnan(a)) return bf16_of(0x7fff);
  const unsigned bits = bits_of(a);
  const bool away = (bits & 0xffffu) != 0 && signbit(a) != upwards;
  return bf16_of(static_cast<unsigned short>((bits >> 16) + (away ? 1u : 0u)));
}
// An integer as a float whose last bit says that something was cut off: right for whatever rounding comes next.
CUDAL1_DEVICE float float_to_odd(long long a) {
  const float near = __ll2float_rz(a);
  return __float2ll_rz(near) == a ? near : float_of(bits_of(near) | 1u);
}
CUDAL1_DEVICE float float_to_odd(unsigned long long a) {
  const float near = __ull2float_rz(a);
  return __float2ull_rz(near) == a ? near : float_of(bits_of(near) | 1u);
}

}  // namespace cudal1_vgpu

CUDAL1_DEVICE __nv_bfloat16 __float2bfloat16_rd(float a) { return cudal1_vgpu::bf16_towards(a, false); }
CUDAL1_DEVICE __nv_bfloat16 __float2bfloat16_ru(float a) { return cudal1_vgpu::bf16_towards(a, true); }
#define CUDAL1_CONVERT_TO_BF16(name, From, Wide, mode)                               \
  CUDAL1_DEVICE __nv_bfloat16 __##name##2bfloat16_##mode(From a) {                   \
    return __float2bfloat16_##mode(cudal1_vgpu::float_to_odd(static_cast<Wide>(a))); \
  }
#define CUDAL1_BF16_CONVERSIONS(mode)                                       \
  CUDAL1_CONVERT_TO_BF16(int, int, long long, mode)                         \
  CUDAL1_CONVERT_TO_BF16(uint, unsigned int, long long, mode)               \
  CUDAL1_CONVERT_TO_BF16(ll, long long, long long, mode)                    \
  CUDAL1_CONVERT_TO_BF16(ull, unsigned long long, unsigned long long, mode) \
  CUDAL1_CONVERT_TO_BF16(short, short, long long, mode)                     \
  CUDAL1_CONVERT_TO_BF16(ushort, unsigned short, long long, mode)           \
  CUDAL1_HALF_TO_INTEGERS(__nv_bfloat16, bfloat16, mode)
CUDAL1_BF16_CONVERSIONS(rn)
CUDAL1_BF16_CONVERSIONS(rz)
CUDAL1_BF16_CONVERSIONS(rd)
CUDAL1_BF16_CONVERSIONS(ru)
#undef CUDAL1_BF16_CONVERSIONS
#undef CUDAL1_CONVERT_TO_BF16
CUDAL1_HALF_TO_SMALL_INTEGERS(__nv_bfloat16, bfloat16)

// --- atomics: compare and swap, the instruction needs sm_90; begun with a guess, since a plain read would be a race
// --------------------------------------------------------------

CUDAL1_DEVICE __nv_bfloat162 atomicAdd(__nv_bfloat162* address, __nv_bfloat162 value) {
  unsigned* word = reinterpret_cast<unsigned*>(address);
  unsigned seen = 0, expected;
  do {
    expected = seen;
    const __nv_bfloat162 sum = __builtin_bit_cast(__nv_bfloat162, expected) + value;
    seen = atomicCAS(word, expected, __builtin_bit_cast(unsigned, sum));
  } while (seen != expected);
  return __builtin_bit_cast(__nv_bfloat162, seen);
}
CUDAL1_DEVICE __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 value) {
  unsigned short* word = reinterpret_cast<unsigned short*>(address);
  unsigned short seen = 0, expected;
  do {
    expected = seen;
    const __nv_bfloat16 sum = __nv_bfloat16(__nv_bfloat16_raw{expected}) + value;
    seen = atomicCAS(word, expected, sum.__x);
  } while (seen != expected);
  return __nv_bfloat16_raw{seen};
}
