// __half and __nv_bfloat16: stored in 16 bits, computed in float and rounded to nearest even after each operation.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "vector_types.hpp"

namespace cudal1_host {

inline std::uint16_t half_bits(float x) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(x)); }
inline float half_value(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

inline std::uint16_t bfloat16_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (x != x) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
inline float bfloat16_value(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace cudal1_host

#define CUDAL1_HOST_HALF_TYPE(Type, to_bits_of, value_of)                                                          \
  struct Type {                                                                                                    \
    std::uint16_t bits;                                                                                            \
    Type() = default;                                                                                              \
    template <class Number>                                                                                        \
    requires std::is_arithmetic_v<Number> Type(Number x) : bits(cudal1_host::to_bits_of(static_cast<float>(x))) {} \
    operator float() const { return cudal1_host::value_of(bits); }                                                 \
    static Type from_bits(std::uint16_t raw) {                                                                     \
      Type value;                                                                                                  \
      value.bits = raw;                                                                                            \
      return value;                                                                                                \
    }                                                                                                              \
  };                                                                                                               \
  inline Type operator+(const Type& a, const Type& b) { return static_cast<float>(a) + static_cast<float>(b); }    \
  inline Type operator-(const Type& a, const Type& b) { return static_cast<float>(a) - static_cast<float>(b); }    \
  inline Type operator*(const Type& a, const Type& b) { return static_cast<float>(a) * static_cast<float>(b); }    \
  inline Type operator/(const Type& a, const Type& b) { return static_cast<float>(a) / static_cast<float>(b); }    \
  inline Type operator-(const Type& a) { return Type::from_bits(a.bits ^ 0x8000); }                                \
  inline Type& operator+=(Type& a, const Type& b) { return a = a + b; }                                            \
  inline Type& operator-=(Type& a, const Type& b) { return a = a - b; }                                            \
  inline Type& operator*=(Type& a, const Type& b) { return a = a * b; }                                            \
  inline Type& operator/=(Type& a, const Type& b) { return a = a / b; }                                            \
  inline bool operator==(const Type& a, const Type& b) { return static_cast<float>(a) == static_cast<float>(b); }  \
  inline bool operator!=(const Type& a, const Type& b) { return static_cast<float>(a) != static_cast<float>(b); }  \
  inline bool operator<(const Type& a, const Type& b) { return static_cast<float>(a) < static_cast<float>(b); }    \
  inline bool operator>(const Type& a, const Type& b) { return static_cast<float>(a) > static_cast<float>(b); }    \
  inline bool operator<=(const Type& a, const Type& b) { return static_cast<float>(a) <= static_cast<float>(b); }  \
  inline bool operator>=(const Type& a, const Type& b) { return static_cast<float>(a) >= static_cast<float>(b); }

CUDAL1_HOST_HALF_TYPE(__half, half_bits, half_value)
CUDAL1_HOST_HALF_TYPE(__nv_bfloat16, bfloat16_bits, bfloat16_value)
using half = __half;
using nv_bfloat16 = __nv_bfloat16;

#define CUDAL1_HOST_HALF_PAIR(Pair, Type)                                                \
  struct alignas(4) Pair {                                                               \
    Type x, y;                                                                           \
    Pair() = default;                                                                    \
    Pair(const Type& a, const Type& b) : x(a), y(b) {}                                   \
  };                                                                                     \
  inline Pair operator+(const Pair& a, const Pair& b) { return {a.x + b.x, a.y + b.y}; } \
  inline Pair operator-(const Pair& a, const Pair& b) { return {a.x - b.x, a.y - b.y}; } \
  inline Pair operator*(const Pair& a, const Pair& b) { return {a.x * b.x, a.y * b.y}; } \
  inline Pair operator/(const Pair& a, const Pair& b) { return {a.x / b.x, a.y / b.y}; }

CUDAL1_HOST_HALF_PAIR(__half2, __half)
CUDAL1_HOST_HALF_PAIR(__nv_bfloat162, __nv_bfloat16)
using half2 = __half2;
using nv_bfloat162 = __nv_bfloat162;

// Functions that CUDA overloads for both types.
#define CUDAL1_HOST_HALF_FUNCTIONS(Type, Pair)                                                           \
  inline Type __hadd(Type a, Type b) { return a + b; }                                                   \
  inline Type __hsub(Type a, Type b) { return a - b; }                                                   \
  inline Type __hmul(Type a, Type b) { return a * b; }                                                   \
  inline Type __hdiv(Type a, Type b) { return a / b; }                                                   \
  inline Type __hneg(Type a) { return -a; }                                                              \
  inline Type __habs(Type a) { return Type::from_bits(a.bits & 0x7fff); }                                \
  inline Type __hfma(Type a, Type b, Type c) { return Type(std::fma(float(a), float(b), float(c))); }    \
  inline Type __hmax(Type a, Type b) { return Type(std::fmax(float(a), float(b))); }                     \
  inline Type __hmin(Type a, Type b) { return Type(std::fmin(float(a), float(b))); }                     \
  inline bool __heq(Type a, Type b) { return a == b; }                                                   \
  inline bool __hne(Type a, Type b) { return a != b; }                                                   \
  inline bool __hlt(Type a, Type b) { return a < b; }                                                    \
  inline bool __hle(Type a, Type b) { return a <= b; }                                                   \
  inline bool __hgt(Type a, Type b) { return a > b; }                                                    \
  inline bool __hge(Type a, Type b) { return a >= b; }                                                   \
  inline bool __hisnan(Type a) { return a != a; }                                                        \
  inline Type hexp(Type a) { return Type(std::exp(float(a))); }                                          \
  inline Type hlog(Type a) { return Type(std::log(float(a))); }                                          \
  inline Type hsqrt(Type a) { return Type(std::sqrt(float(a))); }                                        \
  inline Type hrsqrt(Type a) { return Type(1.0f / std::sqrt(float(a))); }                                \
  inline Type hrcp(Type a) { return Type(1.0f / float(a)); }                                             \
  inline Type htanh(Type a) { return Type(std::tanh(float(a))); }                                        \
  inline Pair __hadd2(Pair a, Pair b) { return a + b; }                                                  \
  inline Pair __hsub2(Pair a, Pair b) { return a - b; }                                                  \
  inline Pair __hmul2(Pair a, Pair b) { return a * b; }                                                  \
  inline Pair __h2div(Pair a, Pair b) { return a / b; }                                                  \
  inline Pair __hneg2(Pair a) { return {-a.x, -a.y}; }                                                   \
  inline Pair __hfma2(Pair a, Pair b, Pair c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  inline Pair __hmax2(Pair a, Pair b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                   \
  inline Pair __hmin2(Pair a, Pair b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                   \
  inline Pair h2exp(Pair a) { return {hexp(a.x), hexp(a.y)}; }                                           \
  inline float __low2float(Pair a) { return a.x; }                                                       \
  inline float __high2float(Pair a) { return a.y; }

CUDAL1_HOST_HALF_FUNCTIONS(__half, __half2)
CUDAL1_HOST_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)

inline float __half2float(__half a) { return a; }
inline __half __float2half(float a) { return a; }
inline __half __float2half_rn(float a) { return a; }
inline __half __double2half(double a) { return a; }
inline __half __int2half_rn(int a) { return a; }
inline int __half2int_rn(__half a) { return static_cast<int>(std::nearbyint(float(a))); }
inline __half __ushort_as_half(unsigned short bits) { return __half::from_bits(bits); }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline __half __short_as_half(short bits) { return __half::from_bits(static_cast<std::uint16_t>(bits)); }
inline short __half_as_short(__half a) { return static_cast<short>(a.bits); }
inline __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
inline __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
inline __half2 __float2half2_rn(float a) { return {a, a}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }

inline float __bfloat162float(__nv_bfloat16 a) { return a; }
inline __nv_bfloat16 __float2bfloat16(float a) { return a; }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return a; }
inline __nv_bfloat16 __double2bfloat16(double a) { return a; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::from_bits(bits); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
