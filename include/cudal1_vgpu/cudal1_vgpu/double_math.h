// Library functions of double, by the same reductions as float_math.h with longer polynomials; 2 ulp unless a comment
// says otherwise. Tests measure them.
#pragma once

#include "float_math.h"

namespace cudal1_vgpu {

constexpr double ln2_high = 6.93147180369123816490e-01;  // 21 low bits are zero: products with exponents are exact
constexpr double ln2_low = 1.90821492927058770002e-10;

// --- exponentials and logarithms ---------------------------------------------------------------------------------

CUDAL1_MATH double small_expm1(double r) {
  const double p =
      polynomial(r, 5.00000000000000111e-01, 1.66666666666666685e-01, 4.16666666666241289e-02, 8.33333333333006153e-03,
                 1.38888889172137167e-03, 1.98412698630536177e-04, 2.48015212959543761e-05, 2.75572684599970641e-06,
                 2.76200884454097462e-07, 2.51003854955103203e-08);
  return fused(r * r, p, r);
}

//! e^(x + low) for a small `low`; x between -760 and 720 (others give what the ends give), NaN stays.
CUDAL1_MATH double exp_d(double x, double low = 0.0) {
  x = x < -760.0 ? -760.0 : x > 720.0 ? 720.0 : x;
  const Rounded<double> power = round_to_integer(x * 1.4426950408889634);
  double rest = fused(power.number, -ln2_high, x);
  rest = fused(power.number, -ln2_low, rest) + low;
  return scale(1.0 + small_expm1(rest), power.integer);
}

//! base^x as e^(x ln base), the product in two parts.
CUDAL1_MATH double exp_times(double x, double ln_high, double ln_low) {
  x = x < -1200.0 ? -1200.0 : x > 1200.0 ? 1200.0 : x;
  const double high = x * ln_high;
  return exp_d(high, fused(x, ln_high, -high) + x * ln_low);
}
CUDAL1_MATH double exp2_d(double x) { return exp_times(x, 6.93147180559945286e-01, 2.31904681384629956e-17); }
CUDAL1_MATH double exp10_d(double x) { return exp_times(x, 2.30258509299404590e+00, -2.17075622338224935e-16); }

CUDAL1_MATH double expm1_d(double x) {  // 3 ulp
  if (x > 710.0) return infinity_d();
  if (x < -40.0) return -1.0;
  const Rounded<double> power = round_to_integer(x * 1.4426950408889634);
  double rest = fused(power.number, -ln2_high, x);
  rest = fused(power.number, -ln2_low, rest);
  if (power.integer == 0) return x == 0.0 ? x : small_expm1(rest);
  const double half_power = power_of_two_d(power.integer - 1);
  return 2.0 * fused(half_power, small_expm1(rest), half_power - 0.5);
}

//! A number in two parts that do not overlap.
struct Pair {
  double high, low;
};

//! log(1 + f) + exponent * ln 2, sqrt(1/2) <= 1 + f <= sqrt(2), to about 2^-64. With s = f / (2 + f) it is
//! 2 s + 2/3 s^3 + …; the first term in two parts.
CUDAL1_MATH Pair log_pair(double f, double f_low, double exponent) {
  const double divisor = 2.0 + f;
  const double divisor_low = (2.0 - divisor) + f + f_low;
  const double s = f / divisor;
  const double s_low = (fused(-s, divisor, f) + fused(-s, divisor_low, f_low)) / divisor;
  const double z = s * s;
  const double p =
      polynomial(z, 6.66666666666666630e-01, 4.00000000000008793e-01, 2.85714285708032922e-01, 2.22222223917858008e-01,
                 1.81817956324521635e-01, 1.53862401205670213e-01, 1.32687619513300215e-01, 1.30867431391190725e-01);
  const double tail = fused(z * s, p, 2.0 * s_low);
  const double head = exponent * ln2_high;
  const double sum = head + 2.0 * s;
  const double lost = __builtin_fabs(head) > __builtin_fabs(s) ? (head - sum) + 2.0 * s : (2.0 * s - sum) + head;
  const double low = lost + fused(exponent, ln2_low, tail);
  const double high = sum + low;
  return {high, (sum - high) + low};
}

struct MantissaD {
  double fraction;
  double exponent;
};
CUDAL1_MATH MantissaD split_mantissa(double x) {
  double offset = 0.0;
  if (x < 2.2250738585072014e-308) {
    x *= 4503599627370496.0;
    offset = -52.0;
  }
  const int exponent = static_cast<int>(static_cast<long long>(bits_of(x) - 0x3fe6a09e667f3bcdull) >> 52);
  const unsigned long long shift = static_cast<unsigned long long>(static_cast<long long>(exponent)) << 52;
  return {double_of(bits_of(x) - shift) - 1.0, offset + exponent};
}

CUDAL1_MATH bool has_no_logarithm(double x) { return !(x > 0.0) || is_infinite(x); }
CUDAL1_MATH double special_logarithm(double x) {
  if (x == 0.0) return -infinity_d();
  return x > 0.0 ? x : nan_d();
}
CUDAL1_MATH Pair log_pair_of(double x) {
  const MantissaD m = split_mantissa(x);
  return log_pair(m.fraction, 0.0, m.exponent);
}
CUDAL1_MATH double log_d(double x) { return has_no_logarithm(x) ? special_logarithm(x) : log_pair_of(x).high; }

CUDAL1_MATH double log_times(double x, double factor, double factor_low) {
  if (has_no_logarithm(x)) return special_logarithm(x);
  const Pair y = log_pair_of(x);
  const double product = y.high * factor;
  return product + (fused(y.high, factor, -product) + fused(y.high, factor_low, y.low * factor));
}
CUDAL1_MATH double log2_d(double x) { return log_times(x, 1.44269504088896339e+00, 2.03552737409310331e-17); }
CUDAL1_MATH double log10_d(double x) { return log_times(x, 4.34294481903251817e-01, 1.09831965021676507e-17); }

CUDAL1_MATH double log1p_d(double x) {
  if (!(x > -1.0) || is_infinite(x)) return x == -1.0 ? -infinity_d() : x > 0.0 ? x : nan_d();
  if (__builtin_fabs(x) < 1e-20) return x;
  const double sum = 1.0 + x;
  if (sum > 1e300) return log_pair_of(sum).high;
  const double lost = __builtin_fabs(x) < 1.0 ? (1.0 - sum) + x : (x - sum) + 1.0;
  const MantissaD m = split_mantissa(sum);
  return log_pair(m.fraction, lost * power_of_two_d(-static_cast<int>(m.exponent)), m.exponent).high;
}

// --- powers --------------------------------------------------------------------------------------------------------

CUDAL1_MATH bool is_integer(double y) { return __builtin_floor(y) == y; }
CUDAL1_MATH bool is_odd(double y) {
  return is_integer(y) && __builtin_fabs(y) < 9007199254740992.0 && !is_integer(0.5 * y);
}

//! |x|^y for x neither 0, 1, infinite nor NaN.
CUDAL1_MATH double positive_power(double x, double y) {
  const Pair log_x = log_pair_of(__builtin_fabs(x));
  const double high = y * log_x.high;
  if (__builtin_fabs(high) > 760.0) return high > 0.0 ? infinity_d() : 0.0;
  return exp_d(high, fused(y, log_x.high, -high) + y * log_x.low);
}

// pow: 2 ulp while |y log x| < 300, 4 ulp beyond.
CUDAL1_MATH double pow_d(double x, double y) {
  if (x == 1.0 || y == 0.0) return 1.0;
  if (is_nan(x) || is_nan(y)) return nan_d();
  const double a = __builtin_fabs(x);
  if (is_infinite(y)) return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? infinity_d() : 0.0;
  const bool negative = is_negative(x) && is_odd(y);
  if (x == 0.0 || is_infinite(x)) {
    const double limit = (x == 0.0) == (y > 0.0) ? 0.0 : infinity_d();
    return negative ? -limit : limit;
  }
  if (x < 0.0 && !is_integer(y)) return nan_d();
  const double power = a == 1.0 ? 1.0 : positive_power(a, y);
  return negative ? -power : power;
}

//! In double: the exponent y log x needs more digits than a float has. 1 ulp
CUDAL1_MATH float pow_f(float x, float y) { return static_cast<float>(pow_d(x, y)); }

CUDAL1_MATH double cbrt_d(double x) {
  if (x == 0.0 || is_nan(x) || is_infinite(x)) return x;
  double a = __builtin_fabs(x), shrink = 1.0;
  if (a < 2.2250738585072014e-308) {
    a *= 18014398509481984.0;  // 2^54
    shrink = 1.0 / 262144.0;
  }
  double root = double_of(bits_of(a) / 3u + 0x2a9f7893782da1ceull);
  for (int i = 0; i < 3; ++i) {
    const double cube = root * root * root;
    root *= (cube + 2.0 * a) / (2.0 * cube + a);
  }
  root -= fused(root * root, root, -a) / (3.0 * root * root);
  return __builtin_copysign(root * shrink, x);
}

CUDAL1_MATH double hypot_d(double x, double y) {
  const double a = __builtin_fabs(x), b = __builtin_fabs(y);
  if (is_infinite(a) || is_infinite(b)) return infinity_d();
  const double large = a > b ? a : b, small = a > b ? b : a;
  if (large == 0.0) return large + small;
  const int power = large > 1e150 ? 600 : large < 1e-150 ? -600 : 0;
  const double u = scale(large, -power), v = scale(small, -power);
  return scale(__builtin_sqrt(fused(u, u, v * v)), power);
}

// --- hyperbolic ----------------------------------------------------------------------------------------------------

CUDAL1_MATH double tanh_d(double x) {
  const double a = __builtin_fabs(x);
  if (a < 0.55) {
    const double z = x * x;
    return __builtin_copysign(
        fused(x * z,
              polynomial(z, -3.33333333333333315e-01, 1.33333333333327086e-01, -5.39682539674271114e-02,
                         2.18694884933519663e-02, -8.86323439055277176e-03, 3.59211028298274827e-03,
                         -1.45566106535034733e-03, 5.88932283696086390e-04, -2.34623556404587924e-04,
                         8.50948108274928843e-05, -2.05900370347676114e-05),
              x),
        x);
  }
  return __builtin_copysign(1.0 - 2.0 / (exp_d(2.0 * a) + 1.0), x);
}
CUDAL1_MATH double sinh_d(double x) {  // 3 ulp
  const double a = __builtin_fabs(x);
  if (a > 709.0) {
    const double root = exp_d(0.5 * a);
    return __builtin_copysign(0.5 * root * root, x);
  }
  const double e = expm1_d(a);
  return __builtin_copysign(a < 1e-9 ? a : 0.5 * (e + e / (e + 1.0)), x);
}
CUDAL1_MATH double cosh_d(double x) {
  const double a = __builtin_fabs(x);
  const double e = exp_d(a > 709.0 ? 0.5 * a : a);
  return a > 709.0 ? 0.5 * e * e : fused(0.5, e, 0.5 / e);
}
CUDAL1_MATH double asinh_d(double x) {  // 3 ulp
  const double a = __builtin_fabs(x);
  const double y =
      a > 1e150 ? log_d(a) + 6.93147180559945286e-01 : log1p_d(a + a * a / (1.0 + __builtin_sqrt(fused(a, a, 1.0))));
  return __builtin_copysign(y, x);
}
CUDAL1_MATH double acosh_d(double x) {  // 3 ulp
  if (x > 1e150) return log_d(x) + 6.93147180559945286e-01;
  const double t = x - 1.0;
  return log1p_d(t + __builtin_sqrt(fused(t, t, 2.0 * t)));
}
CUDAL1_MATH double atanh_d(double x) {  // 3 ulp
  const double a = __builtin_fabs(x);
  return __builtin_copysign(0.5 * log1p_d(2.0 * a / (1.0 - a)), x);
}

// --- error function ------------------------------------------------------------------------------------------------

//! erfc(a) / e^(-a^2) for 0 <= a <= 27.3.
CUDAL1_MATH double scaled_erfc(double a) {
  const double t = (a - 4.0) / (a + 4.0);
  const double p =
      polynomial(t, 1.23299511862555256e+00, -1.39621116840562526e-01, 1.53796521026195836e-02, 6.80970542546935620e-02,
                 -1.01039066036296060e-01, 9.37328349983178877e-02, -6.63303658123791939e-02, 3.71675155379839542e-02,
                 -1.61977340562855857e-02, 5.03196997369817923e-03, -7.57773296029746828e-04, -1.99256672392259334e-04,
                 1.50621695306802592e-04, -2.43992875886113907e-05, -1.12220565675428611e-05, 5.70988261845246002e-06,
                 2.93832521860260867e-07, -8.25600306857749429e-07, 7.46078025700161276e-08, 1.10145381072391688e-07,
                 -1.78871249450713958e-08, -1.40989819677351389e-08, 1.82325026506834179e-09, 1.24950962235298858e-09);
  return p / fused(2.0, a, 1.0);
}
CUDAL1_MATH double exp_of_minus_square(double a) {
  const double square = a * a;
  return exp_d(-square, -fused(a, a, -square));
}
CUDAL1_MATH double erfc_d(double x) {  // 6 ulp
  const double a = __builtin_fabs(x) > 27.3 ? 27.3 : __builtin_fabs(x);
  const double y = scaled_erfc(a) * exp_of_minus_square(a);
  return is_negative(x) ? 2.0 - y : y;
}
CUDAL1_MATH double erfcx_d(double x) {  // 6 ulp
  if (x > 27.3) {
    const double z = 1.0 / (x * x);
    return 5.64189583547756279e-01 / x * polynomial(z, 1.0, -0.5, 0.75, -1.875, 6.5625);
  }
  if (x >= 0.0) return scaled_erfc(x);
  return 2.0 * exp_d(x * x, fused(x, x, -(x * x))) - scaled_erfc(-x > 27.3 ? 27.3 : -x);
}
CUDAL1_MATH double erf_d(double x) {
  const double a = __builtin_fabs(x);
  if (a < 1.0) {
    return x * polynomial(x * x, 1.12837916709551256e+00, -3.76126389031837538e-01, 1.12837916709551206e-01,
                          -2.68661706451298402e-02, 5.22397762542329853e-03, -8.54832702193482970e-04,
                          1.20553329028887357e-04, -1.49256475675193321e-05, 1.64620454414684182e-06,
                          -1.63646421581676160e-07, 1.47924012094048135e-08, -1.21645600572834498e-09,
                          8.70904512905310619e-11, -4.23094582429533771e-12);
  }
  return __builtin_copysign(1.0 - erfc_d(a), x);
}
CUDAL1_MATH double normcdf_d(double x) {  // 8 ulp
  x = x < -38.6 ? -38.6 : x > 38.6 ? 38.6 : x;
  const double a = x * -7.07106781186547573e-01;
  const double rest = fused(x, -7.07106781186547573e-01, -a) + x * 4.83364665672645673e-17;
  return 0.5 * fused(-1.12837916709551256 * rest, exp_of_minus_square(a), erfc_d(a));
}

// --- trigonometric -------------------------------------------------------------------------------------------------

struct ReducedAngleD {
  double rest;
  int quadrant;
};

//! As for float: 2/pi as an integer, three words of it times the mantissa, modulo 4.
CUDAL1_MATH ReducedAngleD reduce_large_angle(double x) {
  constexpr unsigned long long two_over_pi[21] = {
      0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
      0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull,
      0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull,
      0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
      0xf0cfbc209af4361dull};
  using Wide = unsigned __int128;
  const int exponent = static_cast<int>((bits_of(x) >> 52) & 2047u) - 1075;
  const Wide mantissa = (bits_of(x) & 0xfffffffffffffull) | 0x10000000000000ull;
  const int first_bit = exponent + 62;  // of weight 2
  Wide window[3];
  for (int i = 0; i < 3; ++i) {
    const int word = (first_bit >> 6) + i;
    const Wide pair = (static_cast<Wide>(two_over_pi[word]) << 64) | two_over_pi[word + 1];
    window[i] = (pair << (first_bit & 63)) >> 64;
  }
  const Wide turns = (mantissa * window[0] << 64) + mantissa * window[1] + (mantissa * window[2] >> 64);
  const Wide quadrant = (turns + (static_cast<Wide>(1) << 125)) >> 126;
  const Wide rest = turns - (quadrant << 126);
  // two's complement in two words; both as doubles, weighted with pi/2 * 2^-62
  const double high = static_cast<double>(static_cast<long long>(rest >> 64));
  const double low = static_cast<double>(static_cast<unsigned long long>(rest)) * 5.42101086242752217e-20;
  const double sum = high + low;
  const double angle = sum * 3.40612158008655446e-19 + ((high - sum) + low) * 3.40612158008655446e-19;
  return is_negative(x) ? ReducedAngleD{-angle, -static_cast<int>(quadrant)}
                        : ReducedAngleD{angle, static_cast<int>(quadrant)};
}

CUDAL1_MATH ReducedAngleD reduce_angle(double x) {
  if (is_infinite(x) || is_nan(x)) return {nan_d(), 0};
  if (__builtin_fabs(x) > 1e5) return reduce_large_angle(x);
  const Rounded<double> quadrant = round_to_integer(x * 6.36619772367581382e-01);
  double rest = fused(quadrant.number, -1.57079632679489656e+00, x);  // pi/2 in three parts
  rest = fused(quadrant.number, -6.12323399573676604e-17, rest);
  rest = fused(quadrant.number, 1.49738490485919e-33, rest);
  return {rest, quadrant.integer};
}
CUDAL1_MATH double small_sin(double r) {
  const double z = r * r;
  return fused(
      r * z,
      polynomial(z, -1.66666666666666657e-01, 8.33333333333333148e-03, -1.98412698412650409e-04,
                 2.75573192193205790e-06, -2.50521062259944013e-08, 1.60585305966459535e-10, -7.58663688282515918e-13),
      r);
}
CUDAL1_MATH double small_cos(double r) {
  const double z = r * r;
  return fused(
      z * z,
      polynomial(z, 4.16666666666666644e-02, -1.38888888888888873e-03, 2.48015873015846317e-05,
                 -2.75573192213924587e-07, 2.08767557874841879e-09, -1.14704603181190966e-11, 4.74583835819590994e-14),
      fused(z, -0.5, 1.0));
}
CUDAL1_MATH double sin_of(ReducedAngleD angle) {
  const double y = angle.quadrant & 1 ? small_cos(angle.rest) : small_sin(angle.rest);
  return angle.quadrant & 2 ? -y : y;
}
CUDAL1_MATH double sin_d(double x) { return x == 0.0 ? x : sin_of(reduce_angle(x)); }
CUDAL1_MATH double cos_d(double x) {
  ReducedAngleD angle = reduce_angle(x);
  ++angle.quadrant;
  return sin_of(angle);
}
CUDAL1_MATH double tan_d(double x) {  // 4 ulp
  const ReducedAngleD angle = reduce_angle(x);
  const double sine = small_sin(angle.rest), cosine = small_cos(angle.rest);
  return x == 0.0 ? x : angle.quadrant & 1 ? -cosine / sine : sine / cosine;
}
CUDAL1_MATH double sinpi_d(double x, int quarter_turns = 0) {
  if (is_infinite(x) || is_nan(x)) return nan_d();
  x -= 2.0 * __builtin_floor(0.5 * x);
  const double half_turns = __builtin_rint(2.0 * x);
  const double rest = fused(half_turns, -0.5, x);
  const int quadrant = static_cast<int>(half_turns) + quarter_turns;
  return sin_of(ReducedAngleD{fused(rest, 3.14159265358979312e+00, rest * 1.22464679914735321e-16), quadrant});
}
CUDAL1_MATH double cospi_d(double x) { return sinpi_d(x, 1); }

//! atan(t) for 0 <= t <= 1; above tan(pi/8) as pi/4 + atan((t - 1) / (t + 1)).
CUDAL1_MATH double atan_of_quotient(double small, double large) {
  const bool upper = small > 4.14213562373095034e-01 * large;
  const double t = upper ? (small - large) / (small + large) : small / large;
  const double z = t * t;
  const double p =
      polynomial(z, -3.33333333333333315e-01, 1.99999999999999928e-01, -1.42857142857115177e-01,
                 1.11111111107547289e-01, -9.09090906700999041e-02, 7.69230673600017345e-02, -6.66664202005516626e-02,
                 5.88192525319286355e-02, -5.25804155429777931e-02, 4.71939503002743316e-02, -4.10443626575508203e-02,
                 3.06357041129694981e-02, -1.39182292910244292e-02);
  const double angle = fused(t * z, p, t);
  return upper ? 7.85398163397448279e-01 + (angle + 3.06161699786838302e-17) : angle;
}
CUDAL1_MATH double atan_d(double x) {  // 3 ulp
  const double a = __builtin_fabs(x);
  if (is_nan(x)) return x;
  const double angle = a > 1.0 ? 1.57079632679489656e+00 - (atan_of_quotient(1.0, a) - 6.12323399573676604e-17)
                               : atan_of_quotient(a, 1.0);
  return __builtin_copysign(angle, x);
}
CUDAL1_MATH double atan2_d(double y, double x) {  // 3 ulp
  if (is_nan(x) || is_nan(y)) return nan_d();
  const double a = __builtin_fabs(y), b = __builtin_fabs(x);
  const bool steep = a > b;
  double small = steep ? b : a, large = steep ? a : b;
  if (is_infinite(large)) {
    small = is_infinite(small) ? 1.0 : 0.0;
    large = 1.0;
  }
  if (large > 1e300) {
    small *= 0.25;
    large *= 0.25;
  }
  double angle = large == 0.0 ? 0.0 : atan_of_quotient(small, large);
  if (steep) angle = 1.57079632679489656e+00 - (angle - 6.12323399573676604e-17);
  if (is_negative(x)) angle = 3.14159265358979312e+00 - (angle - 1.22464679914735321e-16);
  return __builtin_copysign(angle, y);
}
CUDAL1_MATH double small_asin(double s) {
  const double z = s * s;
  return fused(
      s * z,
      polynomial(z, 1.66666666666666685e-01, 7.49999999999842459e-02, 4.46428571463733798e-02, 3.03819441370852157e-02,
                 2.23721730020055957e-02, 1.73523912659092269e-02, 1.39712353011245387e-02, 1.14789526902573866e-02,
                 1.03243182887441127e-02, 5.45087818772055019e-03, 1.74193579648848559e-02, -1.48814093928180662e-02,
                 2.87784426125930401e-02),
      s);
}
CUDAL1_MATH double asin_d(double x) {
  const double a = __builtin_fabs(x);
  if (a <= 0.5) return small_asin(x);
  const double half = small_asin(__builtin_sqrt(fused(a, -0.5, 0.5)));
  return __builtin_copysign(fused(half, -2.0, 1.57079632679489656e+00) + 6.12323399573676604e-17, x);
}
CUDAL1_MATH double acos_d(double x) {
  const double a = __builtin_fabs(x);
  if (a <= 0.5) return 1.57079632679489656e+00 - (small_asin(x) - 6.12323399573676604e-17);
  const double twice = 2.0 * small_asin(__builtin_sqrt(fused(a, -0.5, 0.5)));
  return is_negative(x) ? 3.14159265358979312e+00 - (twice - 1.22464679914735321e-16) : twice;
}

// --- remainders: exact -------------------------------------------------------------------------------------------

CUDAL1_MATH double fmod_d(double x, double y) {
  double rest = __builtin_fabs(x);
  const double b = __builtin_fabs(y);
  if (is_nan(x) || is_nan(y) || is_infinite(x) || b == 0.0) return nan_d();
  const bool tiny = b < 2.2250738585072014e-308;
  const double normal = tiny ? b * 18014398509481984.0 : b;
  const int exponent = static_cast<int>(bits_of(normal) >> 52);
  // Take away the largest b * 2^n that fits: at least half of what is there, so that the difference is exact.
  while (rest >= b) {
    const int steps = static_cast<int>(bits_of(rest) >> 52) - exponent;
    double multiple = scale(normal, steps);
    while (multiple > rest) multiple *= 0.5;
    rest -= multiple;
  }
  return __builtin_copysign(rest, x);
}

CUDAL1_MATH double remainder_d(double x, double y) {
  const double b = __builtin_fabs(y);
  if (is_nan(x) || is_nan(y) || is_infinite(x) || b == 0.0) return nan_d();
  double rest = __builtin_fabs(b < 8e307 ? fmod_d(x, 2.0 * b) : x);
  const bool tiny = b < 1e-307;
  if (tiny ? rest + rest > b : rest > 0.5 * b) {
    rest -= b;
    if (tiny ? rest + rest >= b : rest >= 0.5 * b) rest -= b;
  }
  return is_negative(x) ? -rest : rest;
}

// --- gamma function: float only to 1 ulp, double to about 1e-14
// ---------------------------------------------------------

//! log of the gamma function for x >= 8, by Stirling's series.
CUDAL1_MATH double stirling(double x) {
  const double z = 1.0 / (x * x);
  const double series =
      polynomial(z, 8.33333333333333287e-02, -2.77777777777777788e-03, 7.93650793650793650e-04,
                 -5.95238095238095238e-04, 8.41750841750841751e-04, -1.91752691752691753e-03, 6.41025641025641026e-03);
  return (x - 0.5) * log_d(x) - x + 9.18938533204672781e-01 + series / x;
}
CUDAL1_MATH double positive_lgamma(double x) {
  double product = 1.0;
  for (; x < 8.0; x += 1.0) product *= x;
  return stirling(x) - log_d(product);
}
CUDAL1_MATH double positive_gamma(double x) {
  double product = 1.0;
  for (; x < 8.0; x += 1.0) product *= x;
  return exp_d(stirling(x)) / product;
}
CUDAL1_MATH double lgamma_d(double x) {
  if (is_nan(x)) return x;
  if (is_infinite(x) || (x <= 0.0 && is_integer(x))) return infinity_d();
  if (x > 0.0) return positive_lgamma(x);
  return 1.14472988584940016 - log_d(__builtin_fabs(sinpi_d(x))) - positive_lgamma(1.0 - x);
}
CUDAL1_MATH double tgamma_d(double x) {
  if (is_nan(x) || (is_infinite(x) && x > 0.0)) return x;
  if (x == 0.0) return __builtin_copysign(infinity_d(), x);
  if (x > 0.0) return positive_gamma(x);
  return is_integer(x) ? nan_d() : 3.14159265358979312 / (sinpi_d(x) * positive_gamma(1.0 - x));
}
CUDAL1_MATH float lgamma_f(float x) { return static_cast<float>(lgamma_d(x)); }
CUDAL1_MATH float tgamma_f(float x) { return static_cast<float>(tgamma_d(x)); }

}  // namespace cudal1_vgpu
