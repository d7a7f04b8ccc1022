// Bits, conversions and the integer functions of the hardware.
#pragma once

#include "library.h"
#include "vector_types.h"

// --- the bits of a number --------------------------------------------------------------------------------------------

CUDAL1_BOTH int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
CUDAL1_BOTH unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
CUDAL1_BOTH float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
CUDAL1_BOTH float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
CUDAL1_BOTH long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
CUDAL1_BOTH double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
CUDAL1_BOTH int __double2hiint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x) >> 32); }
CUDAL1_BOTH int __double2loint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x)); }
CUDAL1_BOTH double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(
      double, (static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32) | static_cast<unsigned>(low));
}

// --- conversions with a rounding of their own ------------------------------------------------------------------------

#define CUDAL1_CONVERT(name, From, To, instruction, to, from) \
  CUDAL1_DEVICE To name(From x) {                             \
    To y;                                                     \
    asm("cvt." instruction " %0, %1;" : "=" to(y) : from(x)); \
    return y;                                                 \
  }
#define CUDAL1_CONVERSIONS(mode, ptx_mode)                                                        \
  CUDAL1_CONVERT(__float2int_##mode, float, int, ptx_mode "i.s32.f32", "r", "f")                  \
  CUDAL1_CONVERT(__float2uint_##mode, float, unsigned int, ptx_mode "i.u32.f32", "r", "f")        \
  CUDAL1_CONVERT(__float2ll_##mode, float, long long, ptx_mode "i.s64.f32", "l", "f")             \
  CUDAL1_CONVERT(__float2ull_##mode, float, unsigned long long, ptx_mode "i.u64.f32", "l", "f")   \
  CUDAL1_CONVERT(__double2int_##mode, double, int, ptx_mode "i.s32.f64", "r", "d")                \
  CUDAL1_CONVERT(__double2uint_##mode, double, unsigned int, ptx_mode "i.u32.f64", "r", "d")      \
  CUDAL1_CONVERT(__double2ll_##mode, double, long long, ptx_mode "i.s64.f64", "l", "d")           \
  CUDAL1_CONVERT(__double2ull_##mode, double, unsigned long long, ptx_mode "i.u64.f64", "l", "d") \
  CUDAL1_CONVERT(__int2float_##mode, int, float, ptx_mode ".f32.s32", "f", "r")                   \
  CUDAL1_CONVERT(__uint2float_##mode, unsigned int, float, ptx_mode ".f32.u32", "f", "r")         \
  CUDAL1_CONVERT(__ll2float_##mode, long long, float, ptx_mode ".f32.s64", "f", "l")              \
  CUDAL1_CONVERT(__ull2float_##mode, unsigned long long, float, ptx_mode ".f32.u64", "f", "l")    \
  CUDAL1_CONVERT(__ll2double_##mode, long long, double, ptx_mode ".f64.s64", "d", "l")            \
  CUDAL1_CONVERT(__ull2double_##mode, unsigned long long, double, ptx_mode ".f64.u64", "d", "l")  \
  CUDAL1_CONVERT(__double2float_##mode, double, float, ptx_mode ".f32.f64", "f", "d")
CUDAL1_CONVERSIONS(rn, "rn")
CUDAL1_CONVERSIONS(rz, "rz")
CUDAL1_CONVERSIONS(ru, "rp")
CUDAL1_CONVERSIONS(rd, "rm")
#undef CUDAL1_CONVERSIONS
#undef CUDAL1_CONVERT
CUDAL1_DEVICE double __int2double_rn(int x) { return x; }
CUDAL1_DEVICE double __uint2double_rn(unsigned int x) { return x; }
CUDAL1_DEVICE long lrintf(float x) { return __float2ll_rn(x); }
CUDAL1_DEVICE long lrint(double x) { return __double2ll_rn(x); }
CUDAL1_DEVICE long lrint(float x) { return __float2ll_rn(x); }
CUDAL1_DEVICE long long llrintf(float x) { return __float2ll_rn(x); }
CUDAL1_DEVICE long long llrint(double x) { return __double2ll_rn(x); }
CUDAL1_DEVICE long long llrint(float x) { return __float2ll_rn(x); }
CUDAL1_DEVICE long lroundf(float x) { return __float2ll_rz(roundf(x)); }
CUDAL1_DEVICE long lround(double x) { return __double2ll_rz(round(x)); }
CUDAL1_DEVICE long lround(float x) { return __float2ll_rz(roundf(x)); }
CUDAL1_DEVICE long long llroundf(float x) { return __float2ll_rz(roundf(x)); }
CUDAL1_DEVICE long long llround(double x) { return __double2ll_rz(round(x)); }
CUDAL1_DEVICE long long llround(float x) { return __float2ll_rz(roundf(x)); }

// --- counting and moving bits
// -------------------------------------------------------------------------------------------

CUDAL1_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
CUDAL1_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CUDAL1_DEVICE int __clz(int x) {
  int count;
  asm("clz.b32 %0, %1;" : "=r"(count) : "r"(x));
  return count;
}
CUDAL1_DEVICE int __clzll(long long x) {
  int count;
  asm("clz.b64 %0, %1;" : "=r"(count) : "l"(x));
  return count;
}
CUDAL1_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
CUDAL1_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
CUDAL1_DEVICE int __ffs(int x) { return x == 0 ? 0 : 32 - __clz(x & -x); }
CUDAL1_DEVICE int __ffsll(long long x) { return x == 0 ? 0 : 64 - __clzll(x & -x); }
//! The position of the offset-th set bit, counted from bit `base` upwards, or downwards where offset is negative.
CUDAL1_DEVICE unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  unsigned int position;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(position) : "r"(mask), "r"(base), "r"(offset));
  return position;
}
CUDAL1_DEVICE unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
CUDAL1_DEVICE unsigned int __nv_bswap32(unsigned int x) { return __builtin_bswap32(x); }
CUDAL1_DEVICE unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
CUDAL1_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  unsigned int result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(selector));
  return result;
}
#define CUDAL1_FUNNEL(name, instruction)                                                             \
  CUDAL1_DEVICE unsigned int name(unsigned int low, unsigned int high, unsigned int shift) {         \
    unsigned int result;                                                                             \
    asm("shf." instruction ".b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift)); \
    return result;                                                                                   \
  }
CUDAL1_FUNNEL(__funnelshift_l, "l.wrap")
CUDAL1_FUNNEL(__funnelshift_lc, "l.clamp")
CUDAL1_FUNNEL(__funnelshift_r, "r.wrap")
CUDAL1_FUNNEL(__funnelshift_rc, "r.clamp")
#undef CUDAL1_FUNNEL

// --- products
// -----------------------------------------------------------------------------------------------------------

CUDAL1_DEVICE int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
CUDAL1_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
CUDAL1_DEVICE long long __mul64hi(long long x, long long y) {
  return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
CUDAL1_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
CUDAL1_DEVICE int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
CUDAL1_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
CUDAL1_DEVICE unsigned int __sad(int x, int y, unsigned int z) {
  return z + static_cast<unsigned int>(x > y ? static_cast<long long>(x) - y : static_cast<long long>(y) - x);
}
CUDAL1_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return z + (x > y ? x - y : y - x);
}
CUDAL1_DEVICE int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
CUDAL1_DEVICE int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
CUDAL1_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y) >> 1);
}
CUDAL1_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}

// Sums of products of the bytes of a word, also given as vectors.
#define CUDAL1_DOT_PRODUCT(name, instruction, T, X, Y)                             \
  CUDAL1_DEVICE T name(T x, T y, T sum) {                                          \
    T result;                                                                      \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(sum)); \
    return result;                                                                 \
  }                                                                                \
  CUDAL1_DEVICE T name(X x, Y y, T sum) { return name(__builtin_bit_cast(T, x), __builtin_bit_cast(T, y), sum); }
CUDAL1_DOT_PRODUCT(__dp4a, "dp4a.s32.s32", int, char4, char4)
CUDAL1_DOT_PRODUCT(__dp4a, "dp4a.u32.u32", unsigned int, uchar4, uchar4)
CUDAL1_DOT_PRODUCT(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
CUDAL1_DOT_PRODUCT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, ushort2, uchar4)
CUDAL1_DOT_PRODUCT(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
CUDAL1_DOT_PRODUCT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, ushort2, uchar4)
#undef CUDAL1_DOT_PRODUCT
