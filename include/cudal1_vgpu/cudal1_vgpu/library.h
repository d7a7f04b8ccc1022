// The mathematical functions as programs call them.
#pragma once

#include "attributes.h"

#define CUDAL1_MATH CUDAL1_DEVICE
#include "double_math.h"
#include "special_math.h"
#undef CUDAL1_MATH

// --- one instruction, or a few --------------------------------------------------------------------------------------

#define CUDAL1_BUILTIN_1(name)                                            \
  CUDAL1_DEVICE float name##f(float x) { return __builtin_##name##f(x); } \
  CUDAL1_DEVICE double name(double x) { return __builtin_##name(x); }     \
  CUDAL1_DEVICE float name(float x) { return __builtin_##name##f(x); }
#define CUDAL1_BUILTIN_2(name)                                                        \
  CUDAL1_DEVICE float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  CUDAL1_DEVICE double name(double x, double y) { return __builtin_##name(x, y); }    \
  CUDAL1_DEVICE float name(float x, float y) { return __builtin_##name##f(x, y); }
CUDAL1_BUILTIN_1(fabs)
CUDAL1_BUILTIN_1(floor)
CUDAL1_BUILTIN_1(ceil)
CUDAL1_BUILTIN_1(trunc)
CUDAL1_BUILTIN_1(rint)
CUDAL1_BUILTIN_1(nearbyint)
CUDAL1_BUILTIN_1(sqrt)
CUDAL1_BUILTIN_2(fmin)
CUDAL1_BUILTIN_2(fmax)
CUDAL1_BUILTIN_2(copysign)
#undef CUDAL1_BUILTIN_1
#undef CUDAL1_BUILTIN_2

CUDAL1_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
CUDAL1_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
CUDAL1_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

// Halves away from zero.
CUDAL1_DEVICE float roundf(float x) {
  const float whole = __builtin_truncf(x);
  return __builtin_fabsf(x - whole) >= 0.5f ? whole + __builtin_copysignf(1.0f, x) : __builtin_copysignf(whole, x);
}
CUDAL1_DEVICE double round(double x) {
  const double whole = __builtin_trunc(x);
  return __builtin_fabs(x - whole) >= 0.5 ? whole + __builtin_copysign(1.0, x) : __builtin_copysign(whole, x);
}
CUDAL1_DEVICE float round(float x) { return roundf(x); }

// ptx: rsqrt.approx.f32, 2 ulp; for double one over the root, 1 ulp.
CUDAL1_DEVICE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
CUDAL1_DEVICE float rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
CUDAL1_DEVICE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

CUDAL1_DEVICE float fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
CUDAL1_DEVICE double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
CUDAL1_DEVICE float fdim(float x, float y) { return fdimf(x, y); }
CUDAL1_DEVICE float fdividef(float x, float y) { return x / y; }
CUDAL1_DEVICE float fdivide(float x, float y) { return x / y; }
CUDAL1_DEVICE double fdivide(double x, double y) { return x / y; }
CUDAL1_DEVICE float nanf(const char*) { return cudal1_vgpu::nan_f(); }
CUDAL1_DEVICE double nan(const char*) { return cudal1_vgpu::nan_d(); }
CUDAL1_DEVICE float saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }

// --- no instruction: float_math.h and double_math.h
// --------------------------------------------------------------------

#define CUDAL1_LIBRARY_1(name)                                              \
  CUDAL1_DEVICE float name##f(float x) { return cudal1_vgpu::name##_f(x); } \
  CUDAL1_DEVICE float name(float x) { return cudal1_vgpu::name##_f(x); }    \
  CUDAL1_DEVICE double name(double x) { return cudal1_vgpu::name##_d(x); }
#define CUDAL1_LIBRARY_2(name)                                                          \
  CUDAL1_DEVICE float name##f(float x, float y) { return cudal1_vgpu::name##_f(x, y); } \
  CUDAL1_DEVICE float name(float x, float y) { return cudal1_vgpu::name##_f(x, y); }    \
  CUDAL1_DEVICE double name(double x, double y) { return cudal1_vgpu::name##_d(x, y); }
CUDAL1_LIBRARY_1(exp)
CUDAL1_LIBRARY_1(exp2)
CUDAL1_LIBRARY_1(exp10)
CUDAL1_LIBRARY_1(expm1)
CUDAL1_LIBRARY_1(log)
CUDAL1_LIBRARY_1(log2)
CUDAL1_LIBRARY_1(log10)
CUDAL1_LIBRARY_1(log1p)
CUDAL1_LIBRARY_1(sinh)
CUDAL1_LIBRARY_1(cosh)
CUDAL1_LIBRARY_1(tanh)
CUDAL1_LIBRARY_1(asinh)
CUDAL1_LIBRARY_1(acosh)
CUDAL1_LIBRARY_1(atanh)
CUDAL1_LIBRARY_1(sin)
CUDAL1_LIBRARY_1(cos)
CUDAL1_LIBRARY_1(tan)
CUDAL1_LIBRARY_1(sinpi)
CUDAL1_LIBRARY_1(cospi)
CUDAL1_LIBRARY_1(asin)
CUDAL1_LIBRARY_1(acos)
CUDAL1_LIBRARY_1(atan)
CUDAL1_LIBRARY_1(erf)
CUDAL1_LIBRARY_1(erfc)
CUDAL1_LIBRARY_1(erfcx)
CUDAL1_LIBRARY_1(normcdf)
CUDAL1_LIBRARY_1(erfinv)
CUDAL1_LIBRARY_1(erfcinv)
CUDAL1_LIBRARY_1(normcdfinv)
CUDAL1_LIBRARY_1(j0)
CUDAL1_LIBRARY_1(j1)
CUDAL1_LIBRARY_1(y0)
CUDAL1_LIBRARY_1(y1)
CUDAL1_LIBRARY_1(cyl_bessel_i0)
CUDAL1_LIBRARY_1(cyl_bessel_i1)
CUDAL1_LIBRARY_1(cbrt)
CUDAL1_LIBRARY_1(lgamma)
CUDAL1_LIBRARY_1(tgamma)
CUDAL1_LIBRARY_2(pow)
CUDAL1_LIBRARY_2(atan2)
CUDAL1_LIBRARY_2(hypot)
CUDAL1_LIBRARY_2(fmod)
CUDAL1_LIBRARY_2(remainder)
#undef CUDAL1_LIBRARY_1
#undef CUDAL1_LIBRARY_2

CUDAL1_DEVICE double pow(double x, int y) { return cudal1_vgpu::pow_d(x, y); }
CUDAL1_DEVICE float pow(float x, int y) { return cudal1_vgpu::pow_f(x, static_cast<float>(y)); }
CUDAL1_DEVICE double pow(float x, double y) { return cudal1_vgpu::pow_d(x, y); }
CUDAL1_DEVICE double pow(double x, float y) { return cudal1_vgpu::pow_d(x, y); }
CUDAL1_DEVICE float powif(float x, int y) { return cudal1_vgpu::pow_f(x, static_cast<float>(y)); }
CUDAL1_DEVICE double copysign(float x, double y) { return __builtin_copysign(x, y); }
CUDAL1_DEVICE double copysign(double x, float y) { return __builtin_copysign(x, y); }
#define CUDAL1_BESSEL_OF_ORDER(name)                                                          \
  CUDAL1_DEVICE float name##f(int order, float x) { return cudal1_vgpu::name##_f(order, x); } \
  CUDAL1_DEVICE float name(int order, float x) { return cudal1_vgpu::name##_f(order, x); }    \
  CUDAL1_DEVICE double name(int order, double x) { return cudal1_vgpu::name##_d(order, x); }
CUDAL1_BESSEL_OF_ORDER(jn)
CUDAL1_BESSEL_OF_ORDER(yn)
#undef CUDAL1_BESSEL_OF_ORDER

#define CUDAL1_REMAINDER(name)                                                                           \
  CUDAL1_DEVICE float name##f(float x, float y, int* bits) { return cudal1_vgpu::name##_f(x, y, bits); } \
  CUDAL1_DEVICE float name(float x, float y, int* bits) { return cudal1_vgpu::name##_f(x, y, bits); }    \
  CUDAL1_DEVICE double name(double x, double y, int* bits) { return cudal1_vgpu::name##_d(x, y, bits); }
CUDAL1_REMAINDER(remquo)
#undef CUDAL1_REMAINDER

CUDAL1_DEVICE float rcbrtf(float x) { return 1.0f / cudal1_vgpu::cbrt_f(x); }
CUDAL1_DEVICE float rcbrt(float x) { return rcbrtf(x); }
CUDAL1_DEVICE double rcbrt(double x) { return 1.0 / cudal1_vgpu::cbrt_d(x); }
CUDAL1_DEVICE float rhypotf(float x, float y) { return 1.0f / cudal1_vgpu::hypot_f(x, y); }
CUDAL1_DEVICE float rhypot(float x, float y) { return rhypotf(x, y); }
CUDAL1_DEVICE double rhypot(double x, double y) { return 1.0 / cudal1_vgpu::hypot_d(x, y); }

#define CUDAL1_LENGTHS(T, suffix, kind)                                                                        \
  CUDAL1_DEVICE T norm##suffix(int count, const T* parts) { return cudal1_vgpu::length_##kind(count, parts); } \
  CUDAL1_DEVICE T norm3d##suffix(T x, T y, T z) {                                                              \
    const T parts[3] = {x, y, z};                                                                              \
    return cudal1_vgpu::length_##kind(3, parts);                                                               \
  }                                                                                                            \
  CUDAL1_DEVICE T norm4d##suffix(T x, T y, T z, T w) {                                                         \
    const T parts[4] = {x, y, z, w};                                                                           \
    return cudal1_vgpu::length_##kind(4, parts);                                                               \
  }                                                                                                            \
  CUDAL1_DEVICE T rnorm##suffix(int count, const T* parts) { return T(1) / norm##suffix(count, parts); }       \
  CUDAL1_DEVICE T rnorm3d##suffix(T x, T y, T z) { return T(1) / norm3d##suffix(x, y, z); }                    \
  CUDAL1_DEVICE T rnorm4d##suffix(T x, T y, T z, T w) { return T(1) / norm4d##suffix(x, y, z, w); }
CUDAL1_LENGTHS(float, f, f)
CUDAL1_LENGTHS(double, , d)
#undef CUDAL1_LENGTHS
CUDAL1_DEVICE void sincosf(float x, float* sine, float* cosine) {
  *sine = cudal1_vgpu::sin_f(x);
  *cosine = cudal1_vgpu::cos_f(x);
}
CUDAL1_DEVICE void sincos(double x, double* sine, double* cosine) {
  *sine = cudal1_vgpu::sin_d(x);
  *cosine = cudal1_vgpu::cos_d(x);
}
CUDAL1_DEVICE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
CUDAL1_DEVICE void sincospif(float x, float* sine, float* cosine) {
  *sine = cudal1_vgpu::sinpi_f(x);
  *cosine = cudal1_vgpu::cospi_f(x);
}
CUDAL1_DEVICE void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
CUDAL1_DEVICE void sincospi(double x, double* sine, double* cosine) {
  *sine = cudal1_vgpu::sinpi_d(x);
  *cosine = cudal1_vgpu::cospi_d(x);
}

// --- the parts of a number
// ---------------------------------------------------------------------------------------------

CUDAL1_DEVICE bool isnan(float x) { return x != x; }
CUDAL1_DEVICE bool isnan(double x) { return x != x; }
CUDAL1_DEVICE bool isinf(float x) { return cudal1_vgpu::is_infinite(x); }
CUDAL1_DEVICE bool isinf(double x) { return cudal1_vgpu::is_infinite(x); }
CUDAL1_DEVICE bool isfinite(float x) { return (cudal1_vgpu::bits_of(x) & 0x7f800000u) != 0x7f800000u; }
CUDAL1_DEVICE bool isfinite(double x) { return (cudal1_vgpu::bits_of(x) << 1) < 0xffe0000000000000ull; }
CUDAL1_DEVICE bool signbit(float x) { return cudal1_vgpu::is_negative(x); }
CUDAL1_DEVICE bool signbit(double x) { return cudal1_vgpu::is_negative(x); }

CUDAL1_DEVICE float ldexpf(float x, int n) {
  n = n > 500 ? 500 : n < -500 ? -500 : n;
  const int first = n / 4;  // four steps: from the smallest number to the largest are 276 powers
  const float step = cudal1_vgpu::power_of_two_f(first);
  return x * step * step * step * cudal1_vgpu::power_of_two_f(n - 3 * first > 127 ? 127 : n - 3 * first);
}
CUDAL1_DEVICE double ldexp(double x, int n) {
  n = n > 4000 ? 4000 : n < -4000 ? -4000 : n;
  const int first = n / 4;
  const double step = cudal1_vgpu::power_of_two_d(first);
  return x * step * step * step * cudal1_vgpu::power_of_two_d(n - 3 * first);
}
CUDAL1_DEVICE float ldexp(float x, int n) { return ldexpf(x, n); }
CUDAL1_DEVICE float scalbnf(float x, int n) { return ldexpf(x, n); }
CUDAL1_DEVICE double scalbn(double x, int n) { return ldexp(x, n); }
CUDAL1_DEVICE float scalbn(float x, int n) { return ldexpf(x, n); }
CUDAL1_DEVICE float scalblnf(float x, long n) {
  return ldexpf(x, static_cast<int>(n > 4000 ? 4000 : n < -4000 ? -4000 : n));
}
CUDAL1_DEVICE double scalbln(double x, long n) {
  return ldexp(x, static_cast<int>(n > 4000 ? 4000 : n < -4000 ? -4000 : n));
}
CUDAL1_DEVICE float scalbln(float x, long n) { return scalblnf(x, n); }

CUDAL1_DEVICE float frexpf(float x, int* exponent) {
  *exponent = 0;
  if (x == 0.0f || !isfinite(x)) return x;
  const bool tiny = __builtin_fabsf(x) < 1.17549435e-38f;
  const unsigned bits = cudal1_vgpu::bits_of(tiny ? x * 33554432.0f : x);
  *exponent = static_cast<int>((bits >> 23) & 255u) - 126 - (tiny ? 25 : 0);
  return cudal1_vgpu::float_of((bits & 0x807fffffu) | 0x3f000000u);
}
CUDAL1_DEVICE double frexp(double x, int* exponent) {
  *exponent = 0;
  if (x == 0.0 || !isfinite(x)) return x;
  const bool tiny = __builtin_fabs(x) < 2.2250738585072014e-308;
  const unsigned long long bits = cudal1_vgpu::bits_of(tiny ? x * 18014398509481984.0 : x);
  *exponent = static_cast<int>((bits >> 52) & 2047u) - 1022 - (tiny ? 54 : 0);
  return cudal1_vgpu::double_of((bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}
CUDAL1_DEVICE float frexp(float x, int* exponent) { return frexpf(x, exponent); }

CUDAL1_DEVICE int ilogbf(float x) {
  if (x == 0.0f || isnan(x)) return -2147483647 - 1;
  if (isinf(x)) return 2147483647;
  int exponent;
  frexpf(x, &exponent);
  return exponent - 1;
}
CUDAL1_DEVICE int ilogb(double x) {
  if (x == 0.0 || isnan(x)) return -2147483647 - 1;
  if (isinf(x)) return 2147483647;
  int exponent;
  frexp(x, &exponent);
  return exponent - 1;
}
CUDAL1_DEVICE int ilogb(float x) { return ilogbf(x); }
CUDAL1_DEVICE float logbf(float x) {
  if (x == 0.0f) return -cudal1_vgpu::infinity_f();
  return isfinite(x) ? static_cast<float>(ilogbf(x)) : x * x;
}
CUDAL1_DEVICE double logb(double x) {
  if (x == 0.0) return -cudal1_vgpu::infinity_d();
  return isfinite(x) ? static_cast<double>(ilogb(x)) : x * x;
}
CUDAL1_DEVICE float logb(float x) { return logbf(x); }

CUDAL1_DEVICE float modff(float x, float* whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(isinf(x) ? 0.0f : x - *whole, x);
}
CUDAL1_DEVICE double modf(double x, double* whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(isinf(x) ? 0.0 : x - *whole, x);
}
CUDAL1_DEVICE float modf(float x, float* whole) { return modff(x, whole); }

CUDAL1_DEVICE float nextafterf(float x, float towards) {
  if (isnan(x) || isnan(towards)) return cudal1_vgpu::nan_f();
  if (x == towards) return towards;
  if (x == 0.0f) return __builtin_copysignf(cudal1_vgpu::float_of(1u), towards);
  const bool away = (towards > x) == (x > 0.0f);
  return cudal1_vgpu::float_of(cudal1_vgpu::bits_of(x) + (away ? 1u : ~0u));
}
CUDAL1_DEVICE double nextafter(double x, double towards) {
  if (isnan(x) || isnan(towards)) return cudal1_vgpu::nan_d();
  if (x == towards) return towards;
  if (x == 0.0) return __builtin_copysign(cudal1_vgpu::double_of(1ull), towards);
  const bool away = (towards > x) == (x > 0.0);
  return cudal1_vgpu::double_of(cudal1_vgpu::bits_of(x) + (away ? 1ull : ~0ull));
}
CUDAL1_DEVICE float nextafter(float x, float towards) { return nextafterf(x, towards); }

// --- minima, maxima, magnitudes of integers ------------------------------------------------------------------------

#define CUDAL1_EXTREMES(A, B, Result)                                                                  \
  CUDAL1_BOTH Result min(A x, B y) { return static_cast<Result>(x) < static_cast<Result>(y) ? x : y; } \
  CUDAL1_BOTH Result max(A x, B y) { return static_cast<Result>(x) > static_cast<Result>(y) ? x : y; }
CUDAL1_EXTREMES(int, int, int)
CUDAL1_EXTREMES(unsigned int, unsigned int, unsigned int)
CUDAL1_EXTREMES(int, unsigned int, unsigned int)
CUDAL1_EXTREMES(unsigned int, int, unsigned int)
CUDAL1_EXTREMES(long, long, long)
CUDAL1_EXTREMES(unsigned long, unsigned long, unsigned long)
CUDAL1_EXTREMES(long, unsigned long, unsigned long)
CUDAL1_EXTREMES(unsigned long, long, unsigned long)
CUDAL1_EXTREMES(long long, long long, long long)
CUDAL1_EXTREMES(unsigned long long, unsigned long long, unsigned long long)
CUDAL1_EXTREMES(long long, unsigned long long, unsigned long long)
CUDAL1_EXTREMES(unsigned long long, long long, unsigned long long)
#undef CUDAL1_EXTREMES
CUDAL1_DEVICE float min(float x, float y) { return __builtin_fminf(x, y); }
CUDAL1_DEVICE float max(float x, float y) { return __builtin_fmaxf(x, y); }
CUDAL1_DEVICE double min(double x, double y) { return __builtin_fmin(x, y); }
CUDAL1_DEVICE double max(double x, double y) { return __builtin_fmax(x, y); }
CUDAL1_DEVICE double min(float x, double y) { return __builtin_fmin(x, y); }
CUDAL1_DEVICE double max(float x, double y) { return __builtin_fmax(x, y); }
CUDAL1_DEVICE double min(double x, float y) { return __builtin_fmin(x, y); }
CUDAL1_DEVICE double max(double x, float y) { return __builtin_fmax(x, y); }
CUDAL1_BOTH unsigned int umin(unsigned int x, unsigned int y) { return x < y ? x : y; }
CUDAL1_BOTH unsigned int umax(unsigned int x, unsigned int y) { return x > y ? x : y; }
CUDAL1_BOTH long long llmin(long long x, long long y) { return x < y ? x : y; }
CUDAL1_BOTH long long llmax(long long x, long long y) { return x > y ? x : y; }
CUDAL1_BOTH unsigned long long ullmin(unsigned long long x, unsigned long long y) { return x < y ? x : y; }
CUDAL1_BOTH unsigned long long ullmax(unsigned long long x, unsigned long long y) { return x > y ? x : y; }

CUDAL1_BOTH int abs(int x) { return x < 0 ? -x : x; }
CUDAL1_BOTH long abs(long x) { return x < 0 ? -x : x; }
CUDAL1_BOTH long long abs(long long x) { return x < 0 ? -x : x; }
CUDAL1_BOTH long labs(long x) { return x < 0 ? -x : x; }
CUDAL1_BOTH long long llabs(long long x) { return x < 0 ? -x : x; }
CUDAL1_DEVICE float abs(float x) { return __builtin_fabsf(x); }
CUDAL1_DEVICE double abs(double x) { return __builtin_fabs(x); }

// Functions of double that take integers, as in C++.
#define CUDAL1_OF_INTEGER(name) \
  CUDAL1_DEVICE double name(int x) { return name(static_cast<double>(x)); }
CUDAL1_OF_INTEGER(sqrt)
CUDAL1_OF_INTEGER(exp)
CUDAL1_OF_INTEGER(log)
CUDAL1_OF_INTEGER(log2)
CUDAL1_OF_INTEGER(sin)
CUDAL1_OF_INTEGER(cos)
CUDAL1_OF_INTEGER(tanh)
CUDAL1_OF_INTEGER(floor)
CUDAL1_OF_INTEGER(ceil)
CUDAL1_OF_INTEGER(rsqrt)
CUDAL1_OF_INTEGER(fabs)
#undef CUDAL1_OF_INTEGER

// --- fast forms: the hardware's approximations
// ------------------------------------------------------------------------

CUDAL1_DEVICE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
CUDAL1_DEVICE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.32192809f); }
CUDAL1_DEVICE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 6.93147181e-01f; }
CUDAL1_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
CUDAL1_DEVICE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 3.01029996e-01f; }
CUDAL1_DEVICE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
CUDAL1_DEVICE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
CUDAL1_DEVICE float __tanf(float x) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)); }
CUDAL1_DEVICE float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
CUDAL1_DEVICE float __fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
CUDAL1_DEVICE float __saturatef(float x) { return saturatef(x); }
CUDAL1_DEVICE float __frsqrt_rn(float x) { return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x))); }
CUDAL1_DEVICE void __sincosf(float x, float* sine, float* cosine) {
  *sine = __nvvm_sin_approx_f(x);
  *cosine = __nvvm_cos_approx_f(x);
}
CUDAL1_DEVICE float __tanhf(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// --- arithmetic with a rounding of its own
// -------------------------------------------------------------------------------

#define CUDAL1_ROUNDED(mode, ptx_mode)                                                                           \
  CUDAL1_DEVICE float __fadd_##mode(float x, float y) { return __nvvm_add_##ptx_mode##_f(x, y); }                \
  CUDAL1_DEVICE float __fsub_##mode(float x, float y) { return __nvvm_add_##ptx_mode##_f(x, -y); }               \
  CUDAL1_DEVICE float __fmul_##mode(float x, float y) { return __nvvm_mul_##ptx_mode##_f(x, y); }                \
  CUDAL1_DEVICE float __fmaf_##mode(float x, float y, float z) { return __nvvm_fma_##ptx_mode##_f(x, y, z); }    \
  CUDAL1_DEVICE float __fmaf_ieee_##mode(float x, float y, float z) { return __fmaf_##mode(x, y, z); }           \
  CUDAL1_DEVICE float __fdiv_##mode(float x, float y) { return __nvvm_div_##ptx_mode##_f(x, y); }                \
  CUDAL1_DEVICE float __frcp_##mode(float x) { return __nvvm_rcp_##ptx_mode##_f(x); }                            \
  CUDAL1_DEVICE float __fsqrt_##mode(float x) { return __nvvm_sqrt_##ptx_mode##_f(x); }                          \
  CUDAL1_DEVICE double __dadd_##mode(double x, double y) { return __nvvm_add_##ptx_mode##_d(x, y); }             \
  CUDAL1_DEVICE double __dsub_##mode(double x, double y) { return __nvvm_add_##ptx_mode##_d(x, -y); }            \
  CUDAL1_DEVICE double __dmul_##mode(double x, double y) { return __nvvm_mul_##ptx_mode##_d(x, y); }             \
  CUDAL1_DEVICE double __fma_##mode(double x, double y, double z) { return __nvvm_fma_##ptx_mode##_d(x, y, z); } \
  CUDAL1_DEVICE double __ddiv_##mode(double x, double y) { return __nvvm_div_##ptx_mode##_d(x, y); }             \
  CUDAL1_DEVICE double __drcp_##mode(double x) { return __nvvm_rcp_##ptx_mode##_d(x); }                          \
  CUDAL1_DEVICE double __dsqrt_##mode(double x) { return __nvvm_sqrt_##ptx_mode##_d(x); }
CUDAL1_ROUNDED(rn, rn)
CUDAL1_ROUNDED(rz, rz)
CUDAL1_ROUNDED(ru, rp)
CUDAL1_ROUNDED(rd, rm)
#undef CUDAL1_ROUNDED
