// What the library functions of float and double share. Plain C++ and compiler built-ins only, so that a test can
// compile the same text for the host and measure it; CUDAL1_MATH says how functions are declared.
//
// Polynomials were fitted with mpmath's chebyfit, coefficients from the constant term upwards.
#pragma once

namespace cudal1_vgpu {

CUDAL1_MATH float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CUDAL1_MATH double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

template <class T>
CUDAL1_MATH T polynomial(T, T coefficient) {
  return coefficient;
}
template <class T, class... Rest>
CUDAL1_MATH T polynomial(T x, T coefficient, Rest... higher) {
  return fused(x, polynomial(x, higher...), coefficient);
}

CUDAL1_MATH unsigned bits_of(float x) { return __builtin_bit_cast(unsigned, x); }
CUDAL1_MATH unsigned long long bits_of(double x) { return __builtin_bit_cast(unsigned long long, x); }
CUDAL1_MATH float float_of(unsigned bits) { return __builtin_bit_cast(float, bits); }
CUDAL1_MATH double double_of(unsigned long long bits) { return __builtin_bit_cast(double, bits); }

template <class T>
CUDAL1_MATH bool is_nan(T x) {
  return x != x;
}
CUDAL1_MATH bool is_infinite(float x) { return (bits_of(x) & 0x7fffffffu) == 0x7f800000u; }
CUDAL1_MATH bool is_infinite(double x) { return (bits_of(x) << 1) == 0xffe0000000000000ull; }
CUDAL1_MATH bool is_negative(float x) { return (bits_of(x) >> 31) != 0; }
CUDAL1_MATH bool is_negative(double x) { return (bits_of(x) >> 63) != 0; }

CUDAL1_MATH float infinity_f() { return float_of(0x7f800000u); }
CUDAL1_MATH float nan_f() { return float_of(0x7fffffffu); }
CUDAL1_MATH double infinity_d() { return double_of(0x7ff0000000000000ull); }
CUDAL1_MATH double nan_d() { return double_of(0x7fffffffffffffffull); }

//! 2^n for exponents of normal numbers.
CUDAL1_MATH float power_of_two_f(int n) { return float_of(static_cast<unsigned>(n + 127) << 23); }
CUDAL1_MATH double power_of_two_d(int n) { return double_of(static_cast<unsigned long long>(n + 1023) << 52); }

//! x * 2^n, |n| up to twice the exponent's range; in two steps, so that only the last one rounds.
CUDAL1_MATH float scale(float x, int n) {
  const int half = n >> 1;
  return x * power_of_two_f(half) * power_of_two_f(n - half);
}
CUDAL1_MATH double scale(double x, int n) {
  const int half = n >> 1;
  return x * power_of_two_d(half) * power_of_two_d(n - half);
}

//! The nearest integer to x, as a number and as an int, for |x| < 2^22 (2^31). Adding 1.5 * 2^23 (2^52) leaves the
//! integer in the low bits; a conversion of NaN to int would be undefined.
template <class T>
struct Rounded {
  T number;
  int integer;
};
CUDAL1_MATH Rounded<float> round_to_integer(float x) {
  const float shifted = x + 12582912.0f;
  return {shifted - 12582912.0f, static_cast<int>(bits_of(shifted) - 0x4b400000u)};
}
CUDAL1_MATH Rounded<double> round_to_integer(double x) {
  const double shifted = x + 6755399441055744.0;
  return {shifted - 6755399441055744.0, static_cast<int>(static_cast<unsigned>(bits_of(shifted)))};
}

}  // namespace cudal1_vgpu
