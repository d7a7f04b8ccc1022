// Inverses of the error function, Bessel functions, lengths of vectors: rarely called, so written for few lines. In
// double also for float.
#pragma once

#include "double_math.h"

namespace cudal1_vgpu {

// --- inverse error functions: a guess and two of Halley's steps, each of which triples the good digits -------------

//! x with erf(x) = z for |z| <= 1/2; the guess is the Taylor series.
CUDAL1_MATH double inverse_of_small_erf(double z) {
  const double square = z * z;
  double x = z * polynomial(square, 8.86226925452758014e-01, 2.32013666534654460e-01, 1.27556175305597959e-01,
                            8.65521292415475337e-02);
  for (int i = 0; i < 2; ++i) {
    const double miss = erf_d(x) - z;
    x -= miss / fused(miss, x, 1.12837916709551256 * exp_d(-x * x));
  }
  return x;
}

//! x with erfc(x) = y for 0 < y <= 1/2; the guess is good to 5e-4 (Abramowitz and Stegun, 26.2.23).
CUDAL1_MATH double inverse_of_small_erfc(double y) {
  const double t = __builtin_sqrt(-2.0 * log_d(0.5 * y));
  const double quotient =
      polynomial(t, 2.515517, 0.802853, 0.010328) / polynomial(t, 1.0, 1.432788, 0.189269, 0.001308);
  double x = (t - quotient) * 7.07106781186547524e-01;
  for (int i = 0; i < 2; ++i) {
    const double slope = 1.12837916709551256 * exp_of_minus_square(x);
    if (slope < 1e-305) return x;  // denormal y: nothing to divide by
    const double miss = (erfc_d(x) - y) / slope;
    x += miss / fused(-miss, x, 1.0);
  }
  return x;
}

CUDAL1_MATH double erfcinv_d(double y) {  // 4 ulp
  if (!(y >= 0.0 && y <= 2.0)) return nan_d();
  if (y == 0.0 || y == 2.0) return y == 0.0 ? infinity_d() : -infinity_d();
  if (y < 0.5) return inverse_of_small_erfc(y);
  return y > 1.5 ? -inverse_of_small_erfc(2.0 - y) : inverse_of_small_erf(1.0 - y);
}
CUDAL1_MATH double erfinv_d(double z) {  // 4 ulp
  const double a = __builtin_fabs(z);
  if (!(a <= 1.0)) return nan_d();
  if (a <= 0.5) return inverse_of_small_erf(z);
  return __builtin_copysign(a == 1.0 ? infinity_d() : inverse_of_small_erfc(1.0 - a), z);
}
CUDAL1_MATH double normcdfinv_d(double p) {  // 5 ulp
  return -1.41421356237309505 * erfcinv_d(2.0 * p);
}
CUDAL1_MATH float erfcinv_f(float y) { return static_cast<float>(erfcinv_d(y)); }
CUDAL1_MATH float erfinv_f(float z) { return static_cast<float>(erfinv_d(z)); }
CUDAL1_MATH float normcdfinv_f(float p) { return static_cast<float>(normcdfinv_d(p)); }

// --- Bessel functions: errors of 1e-14, absolute where the function is below 1 --------------------------------------

//! J and Y of order 0 and 1.
struct BesselPair {
  double j0, j1, y0, y1;
};

//! 0 < x < 25: J downwards from an order where it is nothing, scaled by J0 + 2 J2 + 2 J4 + … = 1, and Y as a series of
//! these (Abramowitz and Stegun, 9.1.88 and 9.1.89).
CUDAL1_MATH BesselPair bessel_of_moderate(double x) {
  double above = 0.0, here = 1e-200, total = 0.0, series0 = 0.0, series1 = 0.0;
  for (int order = x < 1.0 ? 20 : 60 + 2 * static_cast<int>(0.5 * x); order > 0; --order) {
    const int k = order / 2;
    const double sign = k % 2 == 0 ? 1.0 : -1.0;
    if (order % 2 == 0) {
      total += 2.0 * here;
      series0 += sign * here / k;
    } else if (order > 1) {
      series1 += sign * order * here / (static_cast<double>(k) * (k + 1));
    }
    const double below = 2.0 * order / x * here - above;
    above = here;
    here = below;
  }
  const double shrink = 1.0 / (total + here), j0 = here * shrink, j1 = above * shrink;
  const double log_part = log_d(0.5 * x) + 5.77215664901532861e-01;
  const double y0 = log_part * j0 - 2.0 * series0 * shrink;
  const double y1 = (log_part - 1.0) * j1 - j0 / x - series1 * shrink;
  return {j0, j1, 6.36619772367581343e-01 * y0, 6.36619772367581343e-01 * y1};
}

//! Sums of Hankel's expansion for order 0 or 1 and large x: even terms in p, odd ones in q, signs by pairs.
struct HankelSums {
  double p, q;
};
CUDAL1_MATH HankelSums hankel_sums(int order, double x) {
  double term = 1.0, p = 1.0, q = 0.0;
  for (int k = 1; k < 18; ++k) {
    term *= (4.0 * order - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * x * k);
    (k % 2 == 0 ? p : q) += (k / 2) % 2 == 0 ? term : -term;
  }
  return {p, q};
}
CUDAL1_MATH BesselPair bessel_of_large(double x) {
  const double sine = sin_d(x), cosine = cos_d(x), size = __builtin_sqrt(3.18309886183790672e-01 / x);
  const double sum = sine + cosine, difference = sine - cosine;
  const HankelSums zero = hankel_sums(0, x), one = hankel_sums(1, x);
  return {size * (zero.p * sum - zero.q * difference), size * (one.p * difference + one.q * sum),
          size * (zero.p * difference + zero.q * sum), size * (one.q * difference - one.p * sum)};
}
CUDAL1_MATH BesselPair bessel(double x) {
  if (x < 1e-8)
    return {1.0, 0.5 * x, 6.36619772367581343e-01 * (log_d(0.5 * x) + 5.77215664901532861e-01),
            -6.36619772367581343e-01 / x};
  return x < 25.0 ? bessel_of_moderate(x) : bessel_of_large(x);
}

CUDAL1_MATH double j0_d(double x) {
  if (is_nan(x) || is_infinite(x)) return is_nan(x) ? x : 0.0;
  return bessel(__builtin_fabs(x)).j0;
}
CUDAL1_MATH double j1_d(double x) {
  if (is_nan(x) || is_infinite(x)) return is_nan(x) ? x : 0.0;
  return is_negative(x) ? -bessel(-x).j1 : bessel(x).j1;
}
//! What Y is where there is nothing to compute.
CUDAL1_MATH bool has_no_bessel_y(double x) { return !(x > 0.0) || is_infinite(x); }
CUDAL1_MATH double special_bessel_y(double x) { return x == 0.0 ? -infinity_d() : x > 0.0 ? 0.0 : nan_d(); }
CUDAL1_MATH double y0_d(double x) { return has_no_bessel_y(x) ? special_bessel_y(x) : bessel(x).y0; }
CUDAL1_MATH double y1_d(double x) { return has_no_bessel_y(x) ? special_bessel_y(x) : bessel(x).y1; }

//! J of an order above x > 0, downwards as above.
CUDAL1_MATH double bessel_j_of_high_order(int n, double x) {
  if (x < 1e-4) {  // two terms of the series
    double power = 1.0;
    for (int k = 1; k <= n; ++k) power *= 0.5 * x / k;
    return power * (1.0 - 0.25 * x * x / (n + 1.0));
  }
  double above = 0.0, here = 1e-200, total = 0.0, wanted = 0.0;
  for (int order = 2 * ((n + 40 + static_cast<int>(__builtin_sqrt(40.0 * n))) / 2); order > 0; --order) {
    if (order % 2 == 0) total += 2.0 * here;
    if (order == n) wanted = here;
    const double below = 2.0 * order / x * here - above;
    above = here;
    here = below;
    if (__builtin_fabs(here) > 1e100) {
      above *= 1e-200;
      here *= 1e-200;
      total *= 1e-200;
      wanted *= 1e-200;
    }
  }
  return wanted / (total + here);
}
CUDAL1_MATH double jn_d(int n, double x) {
  if (n < 0 || is_nan(x)) return nan_d();
  const double a = __builtin_fabs(x);
  if (n == 0) return j0_d(a);
  if (a == 0.0 || is_infinite(a)) return 0.0;
  double value;
  if (n < a || n == 1) {
    const BesselPair first = bessel(a);
    double below = first.j0;
    value = first.j1;
    for (int k = 1; k < n; ++k) {
      const double above = 2.0 * k / a * value - below;
      below = value;
      value = above;
    }
  } else {
    value = bessel_j_of_high_order(n, a);
  }
  return is_negative(x) && n % 2 != 0 ? -value : value;
}
CUDAL1_MATH double yn_d(int n, double x) {
  if (n < 0) return nan_d();
  if (has_no_bessel_y(x)) return special_bessel_y(x);
  const BesselPair first = bessel(x);
  if (n == 0) return first.y0;
  double below = first.y0, value = first.y1;
  for (int k = 1; k < n && !is_infinite(value); ++k) {
    const double above = 2.0 * k / x * value - below;
    below = value;
    value = above;
  }
  return value;
}

//! Modified Bessel functions of order 0 or 1: all terms of the series are positive; beyond 30 the expansion.
CUDAL1_MATH double bessel_i(int order, double a) {
  if (is_infinite(a)) return a;
  if (a <= 30.0) {
    double term = order == 0 ? 1.0 : 0.5 * a, sum = term;
    for (int k = 1; k < 100 && term > 1e-18 * sum; ++k) {
      term *= 0.25 * a * a / (static_cast<double>(k) * (k + order));
      sum += term;
    }
    return sum;
  }
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 24; ++k) {
    term *= ((2.0 * k - 1.0) * (2.0 * k - 1.0) - 4.0 * order) / (8.0 * a * k);
    sum += term;
  }
  const double root = exp_d(0.5 * a);  // its square may be beyond the range where the whole is not
  return root * (sum / __builtin_sqrt(6.28318530717958648 * a)) * root;
}
CUDAL1_MATH double cyl_bessel_i0_d(double x) { return is_nan(x) ? x : bessel_i(0, __builtin_fabs(x)); }
CUDAL1_MATH double cyl_bessel_i1_d(double x) {
  return is_nan(x) ? x : __builtin_copysign(bessel_i(1, __builtin_fabs(x)), x);
}
CUDAL1_MATH float j0_f(float x) { return static_cast<float>(j0_d(x)); }
CUDAL1_MATH float j1_f(float x) { return static_cast<float>(j1_d(x)); }
CUDAL1_MATH float y0_f(float x) { return static_cast<float>(y0_d(x)); }
CUDAL1_MATH float y1_f(float x) { return static_cast<float>(y1_d(x)); }
CUDAL1_MATH float jn_f(int n, float x) { return static_cast<float>(jn_d(n, x)); }
CUDAL1_MATH float yn_f(int n, float x) { return static_cast<float>(yn_d(n, x)); }
CUDAL1_MATH float cyl_bessel_i0_f(float x) { return static_cast<float>(cyl_bessel_i0_d(x)); }
CUDAL1_MATH float cyl_bessel_i1_f(float x) { return static_cast<float>(cyl_bessel_i1_d(x)); }

// --- lengths of vectors: without overflow on the way
// ------------------------------------------------------------------

//! Squares of float fit into double as they are.
CUDAL1_MATH float length_f(int count, const float* parts) {
  double sum = 0.0;
  bool infinite = false;
  for (int i = 0; i < count; ++i) {
    infinite |= is_infinite(parts[i]);
    sum = fused(static_cast<double>(parts[i]), static_cast<double>(parts[i]), sum);
  }
  return infinite ? infinity_f() : static_cast<float>(__builtin_sqrt(sum));
}
//! The largest part, times the length of what is left when it is taken out as a power of two.
CUDAL1_MATH double length_d(int count, const double* parts) {
  double largest = 0.0;
  for (int i = 0; i < count; ++i) largest = __builtin_fmax(largest, __builtin_fabs(parts[i]));
  if (is_infinite(largest)) return largest;
  const double shrink = largest > 1e140 ? 6.22301527786114171e-61 : largest < 1e-140 ? 1.60693804425899028e+60 : 1.0;
  const double second = largest > 1e200 || largest < 1e-200 ? shrink : 1.0;  // 2^200 once or twice
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    const double part = parts[i] * shrink * second * second;
    sum = fused(part, part, sum);
  }
  return __builtin_sqrt(sum) / shrink / second / second;
}

// --- remainder with the last bits of the quotient
// ----------------------------------------------------------------------

//! The remainder for y and 8 y differ by the three last bits of the rounded quotient, which remquo is to give.
CUDAL1_MATH double remquo_d(double x, double y, int* quotient) {
  *quotient = 0;
  const double b = __builtin_fabs(y);
  if (is_nan(x) || is_nan(y) || is_infinite(x) || b == 0.0) return nan_d();
  double rest = b < 1e307 ? fmod_d(__builtin_fabs(x), 8.0 * b) : __builtin_fabs(x);
  int count = 0;
  for (int multiple = 16; multiple > 0; multiple /= 2)
    if (rest >= multiple * b) {
      rest -= multiple * b;
      count += multiple;
    }
  // rounding to even; b - rest is exact where it matters
  if (rest > b - rest || (rest == b - rest && count % 2 != 0)) {
    rest -= b;
    ++count;
  }
  *quotient = is_negative(x) != is_negative(y) ? -(count & 7) : count & 7;
  return is_negative(x) ? -rest : rest;
}
CUDAL1_MATH float remquo_f(float x, float y, int* quotient) {
  return static_cast<float>(remquo_d(x, y, quotient));  // exact, as the remainder of floats is a float
}

}  // namespace cudal1_vgpu
