// What half and bfloat16 have in common, over the few operations of cuda_fp16.h and cuda_bf16.h. The arguments are the
// type, its pair, and the name stem of those operations: h_add(T, T), h_fma(T, T, T) … on one number and on pairs.
#pragma once

#include "atomics.h"
#include "integer.h"
#include "library.h"
#include "memory.h"
#include "warp.h"

#define CUDAL1_HALF_ARITHMETIC(T, T2)                                                           \
  CUDAL1_DEVICE T __hadd(T a, T b) { return cudal1_vgpu::h_add(a, b); }                         \
  CUDAL1_DEVICE T __hsub(T a, T b) { return cudal1_vgpu::h_sub(a, b); }                         \
  CUDAL1_DEVICE T __hmul(T a, T b) { return cudal1_vgpu::h_mul(a, b); }                         \
  CUDAL1_DEVICE T __hadd_rn(T a, T b) { return cudal1_vgpu::h_add(a, b); }                      \
  CUDAL1_DEVICE T __hsub_rn(T a, T b) { return cudal1_vgpu::h_sub(a, b); }                      \
  CUDAL1_DEVICE T __hmul_rn(T a, T b) { return cudal1_vgpu::h_mul(a, b); }                      \
  CUDAL1_DEVICE T __hfma(T a, T b, T c) { return cudal1_vgpu::h_fma(a, b, c); }                 \
  CUDAL1_DEVICE T __hneg(T a) { return cudal1_vgpu::h_neg(a); }                                 \
  CUDAL1_DEVICE T __habs(T a) { return cudal1_vgpu::h_abs(a); }                                 \
  CUDAL1_DEVICE T __hmin(T a, T b) { return cudal1_vgpu::h_min(a, b); }                         \
  CUDAL1_DEVICE T __hmax(T a, T b) { return cudal1_vgpu::h_max(a, b); }                         \
  /* 24 bits are enough that rounding the quotient twice is rounding it once */                 \
  CUDAL1_DEVICE T __hdiv(T a, T b) { return T(static_cast<float>(a) / static_cast<float>(b)); } \
  CUDAL1_DEVICE T2 __hadd2(T2 a, T2 b) { return cudal1_vgpu::h_add(a, b); }                     \
  CUDAL1_DEVICE T2 __hsub2(T2 a, T2 b) { return cudal1_vgpu::h_sub(a, b); }                     \
  CUDAL1_DEVICE T2 __hmul2(T2 a, T2 b) { return cudal1_vgpu::h_mul(a, b); }                     \
  CUDAL1_DEVICE T2 __hadd2_rn(T2 a, T2 b) { return cudal1_vgpu::h_add(a, b); }                  \
  CUDAL1_DEVICE T2 __hmul2_rn(T2 a, T2 b) { return cudal1_vgpu::h_mul(a, b); }                  \
  CUDAL1_DEVICE T2 __hfma2(T2 a, T2 b, T2 c) { return cudal1_vgpu::h_fma(a, b, c); }            \
  CUDAL1_DEVICE T2 __hneg2(T2 a) { return cudal1_vgpu::h_neg(a); }                              \
  CUDAL1_DEVICE T2 __habs2(T2 a) { return cudal1_vgpu::h_abs(a); }                              \
  CUDAL1_DEVICE T2 __hmin2(T2 a, T2 b) { return cudal1_vgpu::h_min(a, b); }                     \
  CUDAL1_DEVICE T2 __hmax2(T2 a, T2 b) { return cudal1_vgpu::h_max(a, b); }                     \
  CUDAL1_DEVICE T2 __h2div(T2 a, T2 b) { return T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }

#define CUDAL1_HALF_COMPARISON(T, T2, name, operation)                                                     \
  CUDAL1_DEVICE bool __h##name(T a, T b) { return static_cast<float>(a) operation static_cast<float>(b); } \
  CUDAL1_DEVICE bool __h##name##u(T a, T b) { return __hisnan(a) || __hisnan(b) || __h##name(a, b); }      \
  CUDAL1_DEVICE T2 __h##name##2(T2 a, T2 b) {                                                              \
    return T2(T(__h##name(a.x, b.x) ? 1.0f : 0.0f), T(__h##name(a.y, b.y) ? 1.0f : 0.0f));                 \
  }                                                                                                        \
  CUDAL1_DEVICE bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }

#define CUDAL1_HALF_COMPARISONS(T, T2)                                      \
  CUDAL1_DEVICE bool __hisnan(T a) { return isnan(static_cast<float>(a)); } \
  CUDAL1_DEVICE int __hisinf(T a) {                                         \
    const float x = static_cast<float>(a);                                  \
    return isinf(x) ? (x > 0.0f ? 1 : -1) : 0;                              \
  }                                                                         \
  CUDAL1_HALF_COMPARISON(T, T2, eq, ==)                                     \
  CUDAL1_HALF_COMPARISON(T, T2, ne, !=)                                     \
  CUDAL1_HALF_COMPARISON(T, T2, lt, <)                                      \
  CUDAL1_HALF_COMPARISON(T, T2, le, <=)                                     \
  CUDAL1_HALF_COMPARISON(T, T2, gt, >)                                      \
  CUDAL1_HALF_COMPARISON(T, T2, ge, >=)

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
  CUDAL1_STORE_OF(__stwb, T, short, 2, store_wb) \
  CUDAL1_STORE_OF(__stwb, T2, int, 4, store_wb)  \
  CUDAL1_STORE_OF(__stcg, T, short, 2, store_cg) \
  CUDAL1_STORE_OF(__stcg, T2, int, 4, store_cg)  \
  CUDAL1_STORE_OF(__stcs, T, short, 2, store_cs) \
  CUDAL1_STORE_OF(__stcs, T2, int, 4, store_cs)

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
