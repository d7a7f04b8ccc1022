// Library functions of float. Bounds in units in the last place (ulp); tests measure them.
#pragma once

#include "math_base.h"

namespace cudal1_vgpu {

// --- exponentials and logarithms ---------------------------------------------------------------------------------

struct ReducedExponent {
  float rest;  // x - power * ln 2
  int power;
};

//! x between -105 and 90 (others give what the ends give), NaN stays.
CUDAL1_MATH ReducedExponent reduce_exponent(float x) {
  x = x < -105.0f ? -105.0f : x > 90.0f ? 90.0f : x;
  const Rounded<float> power = round_to_integer(x * 1.44269504f);
  float rest = fused(power.number, -6.93145752e-01f, x);
  rest = fused(power.number, -1.42860677e-06f, rest);
  return {rest, power.integer};
}

//! e^r - 1 for |r| < 0.35.
CUDAL1_MATH float small_expm1(float r) {
  const float p =
      polynomial(r, 5.000000000e-01f, 1.666657699e-01f, 4.166655462e-02f, 8.363179053e-03f, 1.392618359e-03f);
  return fused(r * r, p, r);
}

CUDAL1_MATH float exp_f(float x) {  // 2 ulp
  const ReducedExponent reduced = reduce_exponent(x);
  return scale(1.0f + small_expm1(reduced.rest), reduced.power);
}

CUDAL1_MATH float exp2_f(float x) {  // 1 ulp
  x = x < -160.0f ? -160.0f : x > 130.0f ? 130.0f : x;
  const Rounded<float> power = round_to_integer(x);
  const float r = x - power.number;
  const float p = polynomial(r, 6.931471806e-01f, 2.402265092e-01f, 5.550410884e-02f, 9.618056621e-03f,
                             1.333350234e-03f, 1.546146791e-04f, 1.529734162e-05f);
  return scale(fused(r, p, 1.0f), power.integer);
}

CUDAL1_MATH float exp10_f(float x) {  // 2 ulp
  x = x < -50.0f ? -50.0f : x > 40.0f ? 40.0f : x;
  const Rounded<float> power = round_to_integer(x * 3.32192809f);
  float rest = fused(power.number, -3.01025391e-01f, x);
  rest = fused(power.number, -4.60503898e-06f, rest);
  const float high = rest * 2.30258509f;  // ln 10, and what the product and the constant lost
  const float low = fused(rest, 2.30258509f, -high) + rest * -3.19754356e-08f;
  const float e = small_expm1(high);
  return scale(1.0f + (e + fused(e, low, low)), power.integer);
}

CUDAL1_MATH float expm1_f(float x) {  // 2 ulp
  if (x > 89.0f) return infinity_f();
  const ReducedExponent reduced = reduce_exponent(x);
  const float r = reduced.rest;
  if (reduced.power == 0) return x == 0.0f ? x : small_expm1(r);
  // 2^power * (e^r - 1) + (2^power - 1), at half the power so that 2^128 fits
  if (reduced.power < -30) return -1.0f;
  const float half_power = power_of_two_f(reduced.power - 1);
  return 2.0f * fused(half_power, small_expm1(r), half_power - 0.5f);
}

struct Mantissa {
  float fraction;  // mantissa - 1, the mantissa from sqrt(1/2) to sqrt(2)
  float exponent;
};

//! x positive and finite.
CUDAL1_MATH Mantissa split_mantissa(float x) {
  float offset = 0.0f;
  if (x < 1.17549435e-38f) {
    x *= 8388608.0f;
    offset = -23.0f;
  }
  const int exponent = static_cast<int>(bits_of(x) - 0x3f3504f3u) >> 23;
  return {float_of(bits_of(x) - (static_cast<unsigned>(exponent) << 23)) - 1.0f, offset + static_cast<float>(exponent)};
}

//! (log(1 + f) - f) / f^2 for sqrt(1/2) <= 1 + f <= sqrt(2).
CUDAL1_MATH float log1p_tail(float f) {
  return polynomial(f, -4.999999712e-01f, 3.333367128e-01f, -2.500115131e-01f, 1.997201231e-01f, -1.658833550e-01f,
                    1.483512495e-01f, -1.416120404e-01f, 8.788247452e-02f);
}

//! What a logarithm is where there is nothing to compute: zero, negative, infinite, NaN.
CUDAL1_MATH bool has_no_logarithm(float x) { return !(x > 0.0f) || is_infinite(x); }
CUDAL1_MATH float special_logarithm(float x) {
  if (x == 0.0f) return -infinity_f();
  return x > 0.0f ? x : nan_f();
}

CUDAL1_MATH float log_f(float x) {  // 2 ulp
  if (has_no_logarithm(x)) return special_logarithm(x);
  const Mantissa m = split_mantissa(x);
  float y = fused(m.fraction * m.fraction, log1p_tail(m.fraction), m.fraction);
  y = fused(m.exponent, 1.42860677e-06f, y);
  return fused(m.exponent, 6.93145752e-01f, y);
}

CUDAL1_MATH float log2_f(float x) {  // 2 ulp
  if (has_no_logarithm(x)) return special_logarithm(x);
  const Mantissa m = split_mantissa(x);
  const float f = m.fraction;
  const float tail = f * f * log1p_tail(f);
  // f * log2(e) exactly in two parts: near 1 the result is as small as f
  const float high = f * 1.44269502f;
  const float low = fused(f, 1.44269502f, -high) + f * 1.92596303e-08f;
  return m.exponent + (high + fused(tail, 1.44269504f, low));
}

CUDAL1_MATH float log10_f(float x) {  // 2 ulp
  if (has_no_logarithm(x)) return special_logarithm(x);
  const Mantissa m = split_mantissa(x);
  const float f = m.fraction;
  const float tail = f * f * log1p_tail(f);
  const float high = f * 4.34294492e-01f;
  const float low = fused(f, 4.34294492e-01f, -high) + f * -1.01030500e-08f;
  float y = high + fused(tail, 4.34294482e-01f, low);
  y = fused(m.exponent, 4.60503898e-06f, y);
  return fused(m.exponent, 3.01025391e-01f, y);
}

CUDAL1_MATH float log1p_f(float x) {  // 2 ulp
  if (!(x > -1.0f) || is_infinite(x)) return x == -1.0f ? -infinity_f() : x > 0.0f ? x : nan_f();
  const float sum = 1.0f + x;
  const int exponent = static_cast<int>(bits_of(sum) - 0x3f3504f3u) >> 23;
  if (exponent == 0) return x == 0.0f ? x : fused(x * x, log1p_tail(x), x);
  // (1 + x) / 2^e - 1 from x itself, not from the rounded sum; 2^-e in two steps beyond the range of exponents
  const float shrink = power_of_two_f(exponent > 126 ? -126 : -exponent);
  const float f = exponent > 126 ? x * shrink * power_of_two_f(126 - exponent) - 1.0f : fused(x, shrink, shrink - 1.0f);
  float y = fused(f * f, log1p_tail(f), f);
  const float e = static_cast<float>(exponent);
  y = fused(e, 1.42860677e-06f, y);
  return fused(e, 6.93145752e-01f, y);
}

// --- hyperbolic ----------------------------------------------------------------------------------------------------

CUDAL1_MATH float tanh_f(float x) {  // 2 ulp
  const float a = __builtin_fabsf(x);
  if (a < 0.55f) {
    const float z = x * x;
    const float p =
        polynomial(z, -3.333333200e-01f, 1.333311291e-01f, -5.390926785e-02f, 2.130840129e-02f, -6.608371257e-03f);
    return __builtin_copysignf(fused(x * z, p, x), x);  // also for -0
  }
  return __builtin_copysignf(1.0f - 2.0f / (exp_f(2.0f * a) + 1.0f), x);
}

CUDAL1_MATH float sinh_f(float x) {  // 3 ulp
  const float a = __builtin_fabsf(x);
  if (a > 88.0f) {
    const float root = exp_f(0.5f * a);
    return __builtin_copysignf(0.5f * root * root, x);
  }
  const float e = expm1_f(a);
  return __builtin_copysignf(a < 1e-4f ? a : 0.5f * (e + e / (e + 1.0f)), x);
}

CUDAL1_MATH float cosh_f(float x) {  // 3 ulp
  const float a = __builtin_fabsf(x);
  if (a > 88.0f) {
    const float root = exp_f(0.5f * a);
    return 0.5f * root * root;
  }
  const float e = exp_f(a);
  return fused(0.5f, e, 0.5f / e);
}

CUDAL1_MATH float asinh_f(float x) {  // 3 ulp
  const float a = __builtin_fabsf(x);
  const float y =
      a > 1e9f ? log_f(a) + 6.93147181e-01f : log1p_f(a + a * a / (1.0f + __builtin_sqrtf(fused(a, a, 1.0f))));
  return __builtin_copysignf(y, x);
}

CUDAL1_MATH float acosh_f(float x) {  // 4 ulp
  if (x > 1e9f) return log_f(x) + 6.93147181e-01f;
  const float t = x - 1.0f;
  return log1p_f(t + __builtin_sqrtf(fused(t, t, 2.0f * t)));
}

CUDAL1_MATH float atanh_f(float x) {  // 3 ulp
  const float a = __builtin_fabsf(x);
  return __builtin_copysignf(0.5f * log1p_f(2.0f * a / (1.0f - a)), x);
}

// --- error function ------------------------------------------------------------------------------------------------

CUDAL1_MATH float erf_f(float x) {  // 2 ulp
  const float a = __builtin_fabsf(x);
  if (a < 1.0f) {
    return fused(x,
                 polynomial(x * x, 1.283791666e-01f, -3.761262667e-01f, 1.128359472e-01f, -2.685421201e-02f,
                            5.189087423e-03f, -8.016864287e-04f, 7.875875063e-05f),
                 x);
  }
  const float t = a > 4.0f ? 4.0f : a;  // erf(4) rounds to 1
  const float minus_log_erfc =
      polynomial(t, -3.963077747e-04f, 1.130590508e+00f, 6.311073624e-01f, 1.108955110e-01f, -2.699641160e-02f,
                 5.021646097e-03f, -6.740056000e-04f, 6.026702175e-05f, -3.122511373e-06f, 6.731723004e-08f);
  return __builtin_copysignf(1.0f - exp_f(-minus_log_erfc), x);
}

//! erfc(a) / e^(-a^2) for 0 <= a <= 10.1.
CUDAL1_MATH float scaled_erfc(float a) {
  const float inverse = 1.0f / (a + 2.0f);
  float t = (a - 2.0f) * inverse;
  t = fused(fused(t, -a, fused(-2.0f, t + 1.0f, a)), inverse, t);  // what the quotient lost
  const float p = polynomial(t, 1.276978382e+00f, -9.276381608e-02f, -1.660304904e-01f, 1.640509159e-01f,
                             -5.421833739e-02f, -8.030049810e-03f, 8.712118378e-03f, 1.251227960e-03f,
                             -1.428294688e-03f, -4.018504223e-04f, 1.759978345e-04f, 8.294985302e-05f);
  const float shrink = 1.0f / fused(2.0f, a, 1.0f);
  const float y = p * shrink;
  return fused(fused(y * a, -2.0f, p - y), shrink, y);
}

//! e^(-a^2); the square in two parts, because its error counts as often as its size.
CUDAL1_MATH float exp_of_minus_square(float a) {
  const float square = a * a;
  const float rest = fused(a, a, -square);
  const float e = exp_f(-square);
  return fused(e, -rest, e);
}

CUDAL1_MATH float erfc_f(float x) {  // 4 ulp
  const float a = __builtin_fabsf(x) > 10.1f ? 10.1f : __builtin_fabsf(x);
  const float y = scaled_erfc(a) * exp_of_minus_square(a);
  return is_negative(x) ? 2.0f - y : y;
}

CUDAL1_MATH float erfcx_f(float x) {  // 4 ulp for x >= 0
  if (x > 10.1f) {
    const float z = 1.0f / (x * x);  // the asymptotic series
    return 5.64189584e-01f / x * polynomial(z, 1.0f, -0.5f, 0.75f, -1.875f);
  }
  if (x >= 0.0f) return scaled_erfc(x);
  return 2.0f * exp_f(x * x) - scaled_erfc(-x > 10.1f ? 10.1f : -x);
}

CUDAL1_MATH float normcdf_f(float x) {  // 5 ulp
  x = x < -14.5f ? -14.5f : x > 14.5f ? 14.5f : x;
  const float a = x * -7.07106769e-01f;  // -x / sqrt(2), and what the product and the constant lost
  const float rest = fused(x, -7.07106769e-01f, -a) + x * -1.21016175e-08f;
  // erfc'(a) = -2/sqrt(pi) e^(-a^2)
  return 0.5f * fused(-1.12837917f * rest, exp_of_minus_square(a), erfc_f(a));
}

// --- powers --------------------------------------------------------------------------------------------------------

CUDAL1_MATH float cbrt_f(float x) {  // 1 ulp
  if (x == 0.0f || is_nan(x) || is_infinite(x)) return x;
  float a = __builtin_fabsf(x), shrink = 1.0f;
  if (a < 1.17549435e-38f) {
    a *= 16777216.0f;
    shrink = 1.0f / 256.0f;
  }
  float root = float_of(bits_of(a) / 3u + 709921077u);  // within 4%; Halley's step triples the good digits
  for (int i = 0; i < 2; ++i) {
    const float cube = root * root * root;
    root *= (cube + 2.0f * a) / (2.0f * cube + a);
  }
  root -= fused(root * root, root, -a) / (3.0f * root * root);
  return __builtin_copysignf(root * shrink, x);
}

CUDAL1_MATH float hypot_f(float x, float y) {  // 2 ulp
  const float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
  if (is_infinite(a) || is_infinite(b)) return infinity_f();
  const float large = a > b ? a : b, small = a > b ? b : a;
  if (large == 0.0f) return large + small;
  const float shrink = large > 1e18f ? 7.88860905e-31f : large < 1e-18f ? 1.26765060e30f : 1.0f;  // 2^-100, 2^100
  const float u = large * shrink, v = small * shrink;
  return __builtin_sqrtf(fused(u, u, v * v)) * (large > 1e18f    ? 1.26765060e30f
                                                : large < 1e-18f ? 7.88860905e-31f
                                                                 : 1.0f);
}

// --- trigonometric -------------------------------------------------------------------------------------------------

struct ReducedAngle {
  float rest;  // x - quadrant * pi/2
  int quadrant;
};

//! For |x| beyond what three constants can do: 2/pi as an integer of 224 bits, the part of it that matters for this
//! exponent times the mantissa, modulo 4.
CUDAL1_MATH ReducedAngle reduce_large_angle(float x) {
  constexpr unsigned two_over_pi[8] = {0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                       0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
  const int exponent = static_cast<int>((bits_of(x) >> 23) & 255u) - 150;
  const unsigned long long mantissa = (bits_of(x) & 0x7fffffu) | 0x800000u;
  const int first_bit = exponent + 30;  // of weight 2
  unsigned window[3];
  for (int i = 0; i < 3; ++i) {
    const int word = (first_bit >> 5) + i, shift = first_bit & 31;
    const unsigned long long pair = (static_cast<unsigned long long>(two_over_pi[word]) << 32) | two_over_pi[word + 1];
    window[i] = static_cast<unsigned>((pair << shift) >> 32);
  }
  const unsigned long long turns = (mantissa * window[0] << 32) + mantissa * window[1] + (mantissa * window[2] >> 32);
  const unsigned long long quadrant = (turns + (1ull << 61)) >> 62;
  const double rest = static_cast<double>(static_cast<long long>(turns - (quadrant << 62)));
  const float angle = static_cast<float>(rest * 3.40612158008655446e-19);  // pi/2 * 2^-62
  return is_negative(x) ? ReducedAngle{-angle, -static_cast<int>(quadrant)}
                        : ReducedAngle{angle, static_cast<int>(quadrant)};
}

CUDAL1_MATH ReducedAngle reduce_angle(float x) {
  if (is_infinite(x) || is_nan(x)) return {nan_f(), 0};
  if (__builtin_fabsf(x) > 48000.0f) return reduce_large_angle(x);
  const Rounded<float> quadrant = round_to_integer(x * 6.36619747e-01f);
  float rest = fused(quadrant.number, -1.57079637e+00f, x);  // pi/2 in three parts
  rest = fused(quadrant.number, 4.37113883e-08f, rest);
  rest = fused(quadrant.number, 1.71512451e-15f, rest);
  return {rest, quadrant.integer};
}

CUDAL1_MATH float small_sin(float r) {
  const float z = r * r;
  return fused(r * z, polynomial(z, -1.666666466e-01f, 8.332747105e-03f, -1.958763910e-04f), r);
}
CUDAL1_MATH float small_cos(float r) {
  const float z = r * r;
  return fused(z * z, polynomial(z, 4.166666465e-02f, -1.388830186e-03f, 2.454768936e-05f), fused(z, -0.5f, 1.0f));
}

CUDAL1_MATH float sin_of(ReducedAngle angle) {
  const float y = angle.quadrant & 1 ? small_cos(angle.rest) : small_sin(angle.rest);
  return angle.quadrant & 2 ? -y : y;
}
CUDAL1_MATH float sin_f(float x) { return x == 0.0f ? x : sin_of(reduce_angle(x)); }  // 2 ulp
CUDAL1_MATH float cos_f(float x) {                                                    // 2 ulp
  ReducedAngle angle = reduce_angle(x);
  ++angle.quadrant;
  return sin_of(angle);
}
CUDAL1_MATH float tan_f(float x) {  // 4 ulp
  const ReducedAngle angle = reduce_angle(x);
  const float sine = small_sin(angle.rest), cosine = small_cos(angle.rest);
  return x == 0.0f ? x : angle.quadrant & 1 ? -cosine / sine : sine / cosine;
}

//! sin(pi x), cos(pi x): the reduction is exact.
CUDAL1_MATH float sinpi_f(float x, int quarter_turns = 0) {  // 2 ulp
  if (is_infinite(x) || is_nan(x)) return nan_f();
  if (__builtin_fabsf(x) >= 8388608.0f)
    x = __builtin_fabsf(x) >= 16777216.0f ? 0.0f : x - 2.0f * __builtin_floorf(0.5f * x);
  const float half_turns = __builtin_rintf(2.0f * x);
  const float rest = fused(half_turns, -0.5f, x);
  const int quadrant = static_cast<int>(half_turns - 4.0f * __builtin_floorf(0.25f * half_turns)) + quarter_turns;
  return sin_of({fused(rest, 3.14159274f, rest * -8.74227766e-08f), quadrant});
}
CUDAL1_MATH float cospi_f(float x) { return sinpi_f(x, 1); }

CUDAL1_MATH float atan_of_quotient(float small, float large) {
  const float t = small / large, z = t * t;
  const float p =
      polynomial(z, -3.333333173e-01f, 1.999973933e-01f, -1.427856875e-01f, 1.103376412e-01f, -8.656880430e-02f,
                 6.250169445e-02f, -3.587153898e-02f, 1.350777143e-02f, -2.386997317e-03f);
  return fused(t * z, p, t);
}
CUDAL1_MATH float atan_f(float x) {  // 2 ulp
  const float a = __builtin_fabsf(x);
  if (is_nan(x)) return x;
  return __builtin_copysignf(a > 1.0f ? 1.57079633f - atan_of_quotient(1.0f, a) : atan_of_quotient(a, 1.0f), x);
}
CUDAL1_MATH float atan2_f(float y, float x) {  // 3 ulp
  if (is_nan(x) || is_nan(y)) return nan_f();
  const float a = __builtin_fabsf(y), b = __builtin_fabsf(x);
  const bool steep = a > b;
  const float small = steep ? b : a, large = steep ? a : b;
  float angle = large == 0.0f ? 0.0f : is_infinite(small) ? 7.85398163e-01f : atan_of_quotient(small, large);
  if (steep) angle = 1.57079633f - angle;
  if (is_negative(x)) angle = 3.14159265f - angle;
  return __builtin_copysignf(angle, y);
}

//! asin(s) for |s| <= 1/2.
CUDAL1_MATH float small_asin(float s) {
  const float z = s * s;
  return fused(s * z,
               polynomial(z, 1.666666634e-01f, 7.500094761e-02f, 4.459931916e-02f, 3.110172783e-02f, 1.714371682e-02f,
                          3.370072632e-02f),
               s);
}
CUDAL1_MATH float asin_f(float x) {  // 2 ulp
  const float a = __builtin_fabsf(x);
  if (a <= 0.5f) return small_asin(x);
  const float half = small_asin(__builtin_sqrtf(fused(a, -0.5f, 0.5f)));
  return __builtin_copysignf(fused(half, -2.0f, 1.57079637f) - 4.37113883e-08f, x);
}
CUDAL1_MATH float acos_f(float x) {  // 2 ulp
  const float a = __builtin_fabsf(x);
  if (a <= 0.5f) return 1.57079637f - (small_asin(x) + 4.37113883e-08f);
  const float twice = 2.0f * small_asin(__builtin_sqrtf(fused(a, -0.5f, 0.5f)));
  return is_negative(x) ? 3.14159274f - (twice + 8.74227766e-08f) : twice;
}

// --- remainders: exact -------------------------------------------------------------------------------------------

CUDAL1_MATH float fmod_f(float x, float y) {
  float rest = __builtin_fabsf(x);
  const float b = __builtin_fabsf(y);
  if (is_nan(x) || is_nan(y) || is_infinite(x) || b == 0.0f) return nan_f();
  const bool tiny = b < 1.17549435e-38f;
  const float normal = tiny ? b * 16777216.0f : b;
  const int exponent = static_cast<int>(bits_of(normal) >> 23);
  // Take away the largest b * 2^n that fits: at least half of what is there, so that the difference is exact.
  while (rest >= b) {
    const int steps = static_cast<int>(bits_of(rest) >> 23) - exponent;
    float multiple = scale(normal, steps);
    while (multiple > rest) multiple *= 0.5f;
    rest -= multiple;
  }
  return __builtin_copysignf(rest, x);
}

CUDAL1_MATH float remainder_f(float x, float y) {
  const float b = __builtin_fabsf(y);
  if (is_nan(x) || is_nan(y) || is_infinite(x) || b == 0.0f) return nan_f();
  float rest = __builtin_fabsf(b < 1.7e38f ? fmod_f(x, 2.0f * b) : x);
  const float half = 0.5f * b;
  if (b < 2.4e-38f ? rest + rest > b : rest > half) {
    rest -= b;
    if (b < 2.4e-38f ? rest + rest >= b : rest >= half) rest -= b;
  }
  return is_negative(x) ? -rest : rest;
}

}  // namespace cudal1_vgpu
