// What half and bfloat16 have in common, over the few operations of cuda_fp16.h and cuda_bf16.h. The arguments are the
// type, its pair, and the name stem of those operations: h_add(T, T), h_fma(T, T, T) … on one number and on pairs.
#pragma once

#include "atomics.h"
#include "integer.h"
#include "library.h"
#include "memory.h"
#include "warp.h"

#define CUDAL1_HALF_ARITHMETIC(T, T2)                                                                    \
  CUDAL1_DEVICE T __hadd(T a, T b) { return cudal1_vgpu::h_add(a, b); }                                  \
  CUDAL1_DEVICE T __hsub(T a, T b) { return cudal1_vgpu::h_sub(a, b); }                                  \
  CUDAL1_DEVICE T __hmul(T a, T b) { return cudal1_vgpu::h_mul(a, b); }                                  \
  CUDAL1_DEVICE T __hadd_rn(T a, T b) { return cudal1_vgpu::h_add(a, b); }                               \
  CUDAL1_DEVICE T __hsub_rn(T a, T b) { return cudal1_vgpu::h_sub(a, b); }                               \
  CUDAL1_DEVICE T __hmul_rn(T a, T b) { return cudal1_vgpu::h_mul(a, b); }                               \
  CUDAL1_DEVICE T __hfma(T a, T b, T c) { return cudal1_vgpu::h_fma(a, b, c); }                          \
  CUDAL1_DEVICE T __hneg(T a) { return cudal1_vgpu::h_neg(a); }                                          \
  CUDAL1_DEVICE T __habs(T a) { return cudal1_vgpu::h_abs(a); }                                          \
  CUDAL1_DEVICE T __hmin(T a, T b) { return cudal1_vgpu::h_min(a, b); }                                  \
  CUDAL1_DEVICE T __hmax(T a, T b) { return cudal1_vgpu::h_max(a, b); }                                  \
  /* 24 bits are enough that rounding the quotient twice is rounding it once */                          \
  CUDAL1_DEVICE T __hdiv(T a, T b) { return T(static_cast<float>(a) / static_cast<float>(b)); }          \
  CUDAL1_DEVICE T2 __hadd2(T2 a, T2 b) { return cudal1_vgpu::h_add(a, b); }                              \
  CUDAL1_DEVICE T2 __hsub2(T2 a, T2 b) { return cudal1_vgpu::h_sub(a, b); }                              \
  CUDAL1_DEVICE T2 __hmul2(T2 a, T2 b) { return cudal1_vgpu::h_mul(a, b); }                              \
  CUDAL1_DEVICE T2 __hadd2_rn(T2 a, T2 b) { return cudal1_vgpu::h_add(a, b); }                           \
  CUDAL1_DEVICE T2 __hmul2_rn(T2 a, T2 b) { return cudal1_vgpu::h_mul(a, b); }                           \
  CUDAL1_DEVICE T2 __hfma2(T2 a, T2 b, T2 c) { return cudal1_vgpu::h_fma(a, b, c); }                     \
  CUDAL1_DEVICE T2 __hneg2(T2 a) { return cudal1_vgpu::h_neg(a); }                                       \
  CUDAL1_DEVICE T2 __habs2(T2 a) { return cudal1_vgpu::h_abs(a); }                                       \
  CUDAL1_DEVICE T2 __hmin2(T2 a, T2 b) { return cudal1_vgpu::h_min(a, b); }                              \
  CUDAL1_DEVICE T2 __hmax2(T2 a, T2 b) { return cudal1_vgpu::h_max(a, b); }                              \
  CUDAL1_DEVICE T2 __h2div(T2 a, T2 b) { return T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }                \
  CUDAL1_DEVICE T2 __hsub2_rn(T2 a, T2 b) { return cudal1_vgpu::h_sub(a, b); }                           \
  CUDAL1_DEVICE T __hmin_nan(T a, T b) { return cudal1_vgpu::h_min_nan(a, b); }                          \
  CUDAL1_DEVICE T __hmax_nan(T a, T b) { return cudal1_vgpu::h_max_nan(a, b); }                          \
  CUDAL1_DEVICE T2 __hmin2_nan(T2 a, T2 b) { return cudal1_vgpu::h_min_nan(a, b); }                      \
  CUDAL1_DEVICE T2 __hmax2_nan(T2 a, T2 b) { return cudal1_vgpu::h_max_nan(a, b); }                      \
  CUDAL1_DEVICE T __hfma_relu(T a, T b, T c) { return cudal1_vgpu::h_fma_relu(a, b, c); }                \
  CUDAL1_DEVICE T2 __hfma2_relu(T2 a, T2 b, T2 c) { return cudal1_vgpu::h_fma_relu(a, b, c); }           \
  CUDAL1_DEVICE T __hadd_sat(T a, T b) { return cudal1_vgpu::h_add_saturated(a, b); }                    \
  CUDAL1_DEVICE T __hsub_sat(T a, T b) { return cudal1_vgpu::h_sub_saturated(a, b); }                    \
  CUDAL1_DEVICE T __hmul_sat(T a, T b) { return cudal1_vgpu::h_mul_saturated(a, b); }                    \
  CUDAL1_DEVICE T __hfma_sat(T a, T b, T c) { return cudal1_vgpu::h_fma_saturated(a, b, c); }            \
  CUDAL1_DEVICE T2 __hadd2_sat(T2 a, T2 b) { return cudal1_vgpu::h_add_saturated(a, b); }                \
  CUDAL1_DEVICE T2 __hsub2_sat(T2 a, T2 b) { return cudal1_vgpu::h_sub_saturated(a, b); }                \
  CUDAL1_DEVICE T2 __hmul2_sat(T2 a, T2 b) { return cudal1_vgpu::h_mul_saturated(a, b); }                \
  CUDAL1_DEVICE T2 __hfma2_sat(T2 a, T2 b, T2 c) { return cudal1_vgpu::h_fma_saturated(a, b, c); }       \
  /* a * b + c of complex numbers, the real part in x */                                                 \
  CUDAL1_DEVICE T2 __hcmadd(T2 a, T2 b, T2 c) {                                                          \
    return T2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))); \
  }

// Comparisons of pairs: as numbers, as one truth for both, and as a mask of bits.
#define CUDAL1_HALF_PAIR_COMPARISON(T, T2, name)                                                      \
  CUDAL1_DEVICE T2 __h##name##2(T2 a, T2 b) {                                                         \
    return T2(T(__h##name(a.x, b.x) ? 1.0f : 0.0f), T(__h##name(a.y, b.y) ? 1.0f : 0.0f));            \
  }                                                                                                   \
  CUDAL1_DEVICE bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
  CUDAL1_DEVICE unsigned int __h##name##2_mask(T2 a, T2 b) {                                          \
    return (__h##name(a.x, b.x) ? 0x0000ffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);       \
  }

// `expression` of x and y is false for NaN; the form with u is true for it.
#define CUDAL1_HALF_COMPARISON(T, T2, name, expression)                                               \
  CUDAL1_DEVICE bool __h##name(T a, T b) {                                                            \
    const float x = static_cast<float>(a), y = static_cast<float>(b);                                 \
    return expression;                                                                                \
  }                                                                                                   \
  CUDAL1_DEVICE bool __h##name##u(T a, T b) { return __hisnan(a) || __hisnan(b) || __h##name(a, b); } \
  CUDAL1_HALF_PAIR_COMPARISON(T, T2, name)                                                            \
  CUDAL1_HALF_PAIR_COMPARISON(T, T2, name##u)

#define CUDAL1_HALF_COMPARISONS(T, T2)                                                                            \
  CUDAL1_DEVICE bool __hisnan(T a) { return isnan(static_cast<float>(a)); }                                       \
  CUDAL1_DEVICE T2 __hisnan2(T2 a) { return T2(T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f)); } \
  CUDAL1_DEVICE int __hisinf(T a) {                                                                               \
    const float x = static_cast<float>(a);                                                                        \
    return isinf(x) ? (x > 0.0f ? 1 : -1) : 0;                                                                    \
  }                                                                                                               \
  CUDAL1_HALF_COMPARISON(T, T2, eq, x == y)                                                                       \
  CUDAL1_HALF_COMPARISON(T, T2, ne, x<y || x> y)                                                                  \
  CUDAL1_HALF_COMPARISON(T, T2, lt, x < y)                                                                        \
  CUDAL1_HALF_COMPARISON(T, T2, le, x <= y)                                                                       \
  CUDAL1_HALF_COMPARISON(T, T2, gt, x > y)                                                                        \
  CUDAL1_HALF_COMPARISON(T, T2, ge, x >= y)

#define CUDAL1_HALF_OPERATORS(T, T2)                                             \
  CUDAL1_DEVICE T operator+(const T& a, const T& b) { return __hadd(a, b); }     \
  CUDAL1_DEVICE T operator-(const T& a, const T& b) { return __hsub(a, b); }     \
  CUDAL1_DEVICE T operator*(const T& a, const T& b) { return __hmul(a, b); }     \
  CUDAL1_DEVICE T operator/(const T& a, const T& b) { return __hdiv(a, b); }     \
  CUDAL1_DEVICE T operator-(const T& a) { return __hneg(a); }                    \
  CUDAL1_DEVICE T operator+(const T& a) { return a; }                            \
  CUDAL1_DEVICE T& operator+=(T& a, const T& b) { return a = a + b; }            \
  CUDAL1_DEVICE T& operator-=(T& a, const T& b) { return a = a - b; }            \
  CUDAL1_DEVICE T& operator*=(T& a, const T& b) { return a = a * b; }            \
  CUDAL1_DEVICE T& operator/=(T& a, const T& b) { return a = a / b; }            \
  CUDAL1_DEVICE bool operator==(const T& a, const T& b) { return __heq(a, b); }  \
  CUDAL1_DEVICE bool operator!=(const T& a, const T& b) { return __hneu(a, b); } \
  CUDAL1_DEVICE bool operator<(const T& a, const T& b) { return __hlt(a, b); }   \
  CUDAL1_DEVICE bool operator<=(const T& a, const T& b) { return __hle(a, b); }  \
  CUDAL1_DEVICE bool operator>(const T& a, const T& b) { return __hgt(a, b); }   \
  CUDAL1_DEVICE bool operator>=(const T& a, const T& b) { return __hge(a, b); }  \
  CUDAL1_DEVICE T2 operator+(const T2& a, const T2& b) { return __hadd2(a, b); } \
  CUDAL1_DEVICE T2 operator-(const T2& a, const T2& b) { return __hsub2(a, b); } \
  CUDAL1_DEVICE T2 operator*(const T2& a, const T2& b) { return __hmul2(a, b); } \
  CUDAL1_DEVICE T2 operator/(const T2& a, const T2& b) { return __h2div(a, b); } \
  CUDAL1_DEVICE T2 operator-(const T2& a) { return __hneg2(a); }                 \
  CUDAL1_DEVICE T2& operator+=(T2& a, const T2& b) { return a = a + b; }         \
  CUDAL1_DEVICE T2& operator-=(T2& a, const T2& b) { return a = a - b; }         \
  CUDAL1_DEVICE T2& operator*=(T2& a, const T2& b) { return a = a * b; }         \
  CUDAL1_DEVICE T2& operator/=(T2& a, const T2& b) { return a = a / b; }

// In float and rounded: at most one unit in the last place of the half.
#define CUDAL1_HALF_FUNCTION(T, T2, name, function)                           \
  CUDAL1_DEVICE T h##name(T a) { return T(function(static_cast<float>(a))); } \
  CUDAL1_DEVICE T2 h2##name(T2 a) { return T2(h##name(a.x), h##name(a.y)); }
#define CUDAL1_HALF_FUNCTIONS(T, T2)         \
  CUDAL1_HALF_FUNCTION(T, T2, exp, expf)     \
  CUDAL1_HALF_FUNCTION(T, T2, exp2, exp2f)   \
  CUDAL1_HALF_FUNCTION(T, T2, exp10, exp10f) \
  CUDAL1_HALF_FUNCTION(T, T2, log, logf)     \
  CUDAL1_HALF_FUNCTION(T, T2, log2, log2f)   \
  CUDAL1_HALF_FUNCTION(T, T2, log10, log10f) \
  CUDAL1_HALF_FUNCTION(T, T2, sqrt, sqrtf)   \
  CUDAL1_HALF_FUNCTION(T, T2, rsqrt, rsqrtf) \
  CUDAL1_HALF_FUNCTION(T, T2, rcp, 1.0f /)   \
  CUDAL1_HALF_FUNCTION(T, T2, sin, sinf)     \
  CUDAL1_HALF_FUNCTION(T, T2, cos, cosf)     \
  CUDAL1_HALF_FUNCTION(T, T2, tanh, tanhf)   \
  CUDAL1_HALF_FUNCTION(T, T2, floor, floorf) \
  CUDAL1_HALF_FUNCTION(T, T2, ceil, ceilf)   \
  CUDAL1_HALF_FUNCTION(T, T2, trunc, truncf) \
  CUDAL1_HALF_FUNCTION(T, T2, rint, rintf)

// Conversions to the small integers saturate, as the hardware's do; `mode` rounds.
#define CUDAL1_HALF_TO_SMALL_INTEGERS(T, name)                                                   \
  CUDAL1_DEVICE signed char __##name##2char_rz(T a) {                                            \
    return static_cast<signed char>(min(max(__float2int_rz(static_cast<float>(a)), -128), 127)); \
  }                                                                                              \
  CUDAL1_DEVICE unsigned char __##name##2uchar_rz(T a) {                                         \
    return static_cast<unsigned char>(min(max(__float2int_rz(static_cast<float>(a)), 0), 255));  \
  }
#define CUDAL1_HALF_TO_INTEGERS(T, name, mode)                                                                      \
  CUDAL1_DEVICE int __##name##2int_##mode(T a) { return __float2int_##mode(static_cast<float>(a)); }                \
  CUDAL1_DEVICE unsigned int __##name##2uint_##mode(T a) { return __float2uint_##mode(static_cast<float>(a)); }     \
  CUDAL1_DEVICE long long __##name##2ll_##mode(T a) { return __float2ll_##mode(static_cast<float>(a)); }            \
  CUDAL1_DEVICE unsigned long long __##name##2ull_##mode(T a) { return __float2ull_##mode(static_cast<float>(a)); } \
  CUDAL1_DEVICE short __##name##2short_##mode(T a) {                                                                \
    return static_cast<short>(min(max(__float2int_##mode(static_cast<float>(a)), -32768), 32767));                  \
  }                                                                                                                 \
  CUDAL1_DEVICE unsigned short __##name##2ushort_##mode(T a) {                                                      \
    return static_cast<unsigned short>(min(max(__float2int_##mode(static_cast<float>(a)), 0), 65535));              \
  }

#define CUDAL1_HALF_MEMORY(T, T2)                \
  CUDAL1_SHUFFLES(T)                             \
  CUDAL1_SHUFFLES(T2)                            \
  CUDAL1_LOAD_OF(__ldg, T, 2, load_nc)           \
  CUDAL1_LOAD_OF(__ldg, T2, 4, load_nc)          \
  CUDAL1_LOAD_OF(__ldcg, T, 2, load_cg)          \
  CUDAL1_LOAD_OF(__ldcg, T2, 4, load_cg)         \
  CUDAL1_LOAD_OF(__ldca, T, 2, load_ca)          \
  CUDAL1_LOAD_OF(__ldca, T2, 4, load_ca)         \
  CUDAL1_LOAD_OF(__ldcs, T, 2, load_cs)          \
  CUDAL1_LOAD_OF(__ldcs, T2, 4, load_cs)         \
  CUDAL1_LOAD_OF(__ldlu, T, 2, load_lu)          \
  CUDAL1_LOAD_OF(__ldlu, T2, 4, load_lu)         \
  CUDAL1_LOAD_OF(__ldcv, T, 2, load_cv)          \
  CUDAL1_LOAD_OF(__ldcv, T2, 4, load_cv)         \
  CUDAL1_STORE_OF(__stwb, T, short, 2, store_wb) \
  CUDAL1_STORE_OF(__stwb, T2, int, 4, store_wb)  \
  CUDAL1_STORE_OF(__stcg, T, short, 2, store_cg) \
  CUDAL1_STORE_OF(__stcg, T2, int, 4, store_cg)  \
  CUDAL1_STORE_OF(__stcs, T, short, 2, store_cs) \
  CUDAL1_STORE_OF(__stcs, T2, int, 4, store_cs)  \
  CUDAL1_STORE_OF(__stwt, T, short, 2, store_wt) \
  CUDAL1_STORE_OF(__stwt, T2, int, 4, store_wt)

// What a struct of 16 bits needs to be a number. Integers go through double, which holds 53 bits of them; CUDA's are
// exact for all 64, a difference for numbers beyond 2^53 only.
#define CUDAL1_HALF_MEMBERS(T, raw)                                                 \
  unsigned short __x;                                                               \
  T() = default;                                                                    \
  CUDAL1_MEMBER constexpr T(raw r) : __x(r.x) {}                                    \
  CUDAL1_MEMBER T(float v) : __x(cudal1_vgpu::raw##_from(v)) {}                     \
  CUDAL1_MEMBER T(double v) : __x(cudal1_vgpu::raw##_from(v)) {}                    \
  CUDAL1_MEMBER T(int v) : T(static_cast<double>(v)) {}                             \
  CUDAL1_MEMBER T(unsigned int v) : T(static_cast<double>(v)) {}                    \
  CUDAL1_MEMBER T(short v) : T(static_cast<float>(v)) {}                            \
  CUDAL1_MEMBER T(unsigned short v) : T(static_cast<float>(v)) {}                   \
  CUDAL1_MEMBER T(long v) : T(static_cast<double>(v)) {}                            \
  CUDAL1_MEMBER T(unsigned long v) : T(static_cast<double>(v)) {}                   \
  CUDAL1_MEMBER T(long long v) : T(static_cast<double>(v)) {}                       \
  CUDAL1_MEMBER T(unsigned long long v) : T(static_cast<double>(v)) {}              \
  CUDAL1_MEMBER operator raw() const { return raw{__x}; }                           \
  CUDAL1_MEMBER operator float() const { return cudal1_vgpu::raw##_to_float(__x); } \
  CUDAL1_MEMBER explicit operator bool() const { return (__x & 0x7fff) != 0; }
