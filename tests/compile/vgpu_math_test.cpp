// The library functions of the virtual GPU's headers, compiled for the host and measured against the C library in a
// wider type.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#define CUDAL1_MATH static inline
#include "cudal1_vgpu/double_math.h"

namespace cudal1 {
namespace {

namespace vgpu = cudal1_vgpu;

//! Distance of a result from the exact value, in units of the last place of the exact value's float (double).
template <class T>
double ulps(T result, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(result) || std::isnan(rounded)) return std::isnan(result) == std::isnan(rounded) ? 0.0 : HUGE_VAL;
  if (std::isinf(result) || std::isinf(rounded)) return result == rounded ? 0.0 : HUGE_VAL;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int digits = std::numeric_limits<T>::digits;
  const int last = std::max(exponent - digits, std::numeric_limits<T>::min_exponent - digits);
  return static_cast<double>(std::fabs((static_cast<long double>(result) - exact) / std::ldexp(1.0L, last)));
}

//! Largest distance over numbers spread evenly between two bounds, and over all magnitudes between them.
template <class T, class Function, class Exact>
double worst(Function function, Exact exact, double low, double high) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> even(low, high), exponent(-40.0, 1.0);
  double largest = 0.0;
  for (int i = 0; i < 100'000; ++i) {
    const T x = static_cast<T>(even(random));
    const T y = static_cast<T>(even(random) * std::exp2(exponent(random)));
    largest = std::max(largest, ulps(function(x), exact(static_cast<long double>(x))));
    if (y >= low && y <= high) largest = std::max(largest, ulps(function(y), exact(static_cast<long double>(y))));
  }
  return largest;
}

#define EXPECT_ULPS_F(name, bound, low, high)                                                                       \
  EXPECT_LE(                                                                                                        \
      worst<float>([](float x) { return vgpu::name##_f(x); }, [](long double x) { return name##l(x); }, low, high), \
      bound)                                                                                                        \
      << #name "f"
#define EXPECT_ULPS_D(name, bound, low, high)                                                                         \
  EXPECT_LE(                                                                                                          \
      worst<double>([](double x) { return vgpu::name##_d(x); }, [](long double x) { return name##l(x); }, low, high), \
      bound)                                                                                                          \
      << #name

TEST(VgpuMath, ExponentialsAndLogarithmsOfFloat) {
  EXPECT_ULPS_F(exp, 2.0, -105, 89);
  EXPECT_ULPS_F(exp2, 1.0, -150, 129);
  EXPECT_ULPS_F(exp10, 2.0, -45, 39);
  EXPECT_ULPS_F(expm1, 2.0, -20, 89);
  EXPECT_ULPS_F(log, 2.0, 0, 1e38);
  EXPECT_ULPS_F(log, 2.0, 0.3, 3);
  EXPECT_ULPS_F(log2, 2.0, 0.3, 3);
  EXPECT_ULPS_F(log2, 2.0, 0, 1e38);
  EXPECT_ULPS_F(log10, 2.0, 0.3, 3);
  EXPECT_ULPS_F(log10, 2.0, 0, 1e38);
  EXPECT_ULPS_F(log1p, 2.0, -0.999, 10);
  EXPECT_ULPS_F(log1p, 2.0, 0, 3e38);
}

TEST(VgpuMath, HyperbolicAndErrorFunctionsOfFloat) {
  EXPECT_ULPS_F(tanh, 2.0, -10, 10);
  EXPECT_ULPS_F(sinh, 3.0, -89, 89);
  EXPECT_ULPS_F(cosh, 3.0, -89, 89);
  EXPECT_ULPS_F(asinh, 3.0, -1e5, 1e5);
  EXPECT_ULPS_F(acosh, 4.0, 1, 1e5);
  EXPECT_ULPS_F(atanh, 3.0, -0.9999, 0.9999);
  EXPECT_ULPS_F(erf, 2.0, -5, 5);
  EXPECT_ULPS_F(erfc, 4.0, -4, 10);
  EXPECT_LE(
      worst<float>([](float x) { return vgpu::normcdf_f(x); },
                   [](long double x) { return 0.5L * erfcl(-x * 0.707106781186547524400844362104849039L); }, -14, 14),
      5.0);
}

TEST(VgpuMath, AnglesOfFloat) {
  for (const double range : {3.0, 1e4, 1e7, 1e30}) {
    EXPECT_ULPS_F(sin, 2.0, -range, range);
    EXPECT_ULPS_F(cos, 2.0, -range, range);
    EXPECT_ULPS_F(tan, 4.0, -range, range);
  }
  EXPECT_ULPS_F(asin, 2.0, -1, 1);
  EXPECT_ULPS_F(acos, 2.0, -1, 1);
  EXPECT_ULPS_F(atan, 2.0, -100, 100);
  EXPECT_ULPS_F(cbrt, 1.0, -1e30, 1e30);
}

TEST(VgpuMath, FunctionsOfDouble) {
  EXPECT_ULPS_D(exp, 2.0, -745, 709);
  EXPECT_ULPS_D(exp2, 2.0, -1070, 1023);
  EXPECT_ULPS_D(exp10, 2.0, -320, 308);
  EXPECT_ULPS_D(expm1, 3.0, -40, 700);
  EXPECT_ULPS_D(log, 2.0, 0, 1e308);
  EXPECT_ULPS_D(log, 2.0, 0.3, 3);
  EXPECT_ULPS_D(log2, 2.0, 0.3, 3);
  EXPECT_ULPS_D(log10, 2.0, 0.3, 3);
  EXPECT_ULPS_D(log1p, 2.0, -0.999, 10);
  EXPECT_ULPS_D(tanh, 2.0, -20, 20);
  EXPECT_ULPS_D(sinh, 3.0, -700, 700);
  EXPECT_ULPS_D(cosh, 2.0, -700, 700);
  EXPECT_ULPS_D(asinh, 3.0, -1e5, 1e5);
  EXPECT_ULPS_D(acosh, 3.0, 1, 1e5);
  EXPECT_ULPS_D(atanh, 3.0, -0.9999, 0.9999);
  EXPECT_ULPS_D(erf, 2.0, -6, 6);
  EXPECT_ULPS_D(erfc, 6.0, -5, 26);
  EXPECT_ULPS_D(cbrt, 2.0, -1e300, 1e300);
  EXPECT_ULPS_D(asin, 2.0, -1, 1);
  EXPECT_ULPS_D(acos, 2.0, -1, 1);
  EXPECT_ULPS_D(atan, 3.0, -100, 100);
}

// The C library's long double loses digits of such angles, so its double, which is right to 1 ulp, is the measure.
TEST(VgpuMath, AnglesOfDouble) {
  for (const double range : {3.0, 1e4, 1e9, 1e20, 1e300}) {
    EXPECT_LE(worst<double>([](double x) { return vgpu::sin_d(x); },
                            [](long double x) { return std::sin(static_cast<double>(x)); }, -range, range),
              2.0);
    EXPECT_LE(worst<double>([](double x) { return vgpu::cos_d(x); },
                            [](long double x) { return std::cos(static_cast<double>(x)); }, -range, range),
              2.0);
    EXPECT_LE(worst<double>([](double x) { return vgpu::tan_d(x); },
                            [](long double x) { return std::tan(static_cast<double>(x)); }, -range, range),
              4.0);
  }
}

TEST(VgpuMath, Powers) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> base(0.0, 10.0), exponent(-30.0, 30.0);
  double worst_f = 0.0, worst_d = 0.0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = base(random), y = exponent(random);
    const float xf = static_cast<float>(x), yf = static_cast<float>(y);
    worst_f = std::max(worst_f, ulps(vgpu::pow_f(xf, yf), powl(xf, yf)));
    worst_d = std::max(worst_d, ulps(vgpu::pow_d(x, y), powl(x, y)));
  }
  EXPECT_LE(worst_f, 1.0);
  EXPECT_LE(worst_d, 2.0);
}

template <class T>
void expect_same(T ours, T theirs, const char* what) {
  EXPECT_TRUE((std::isnan(ours) && std::isnan(theirs)) ||
              (ours == theirs && std::signbit(ours) == std::signbit(theirs)))
      << what << ": " << ours << " instead of " << theirs;
}

// Zeros, infinities, NaN and what lies beyond the range have the C library's results, signs included.
TEST(VgpuMath, SpecialValues) {
  const float infinity = HUGE_VALF;
  for (const float x : {0.0f, -0.0f, infinity, -infinity, NAN, 1.0f, -1.0f, 1e-40f, -1e-40f, 200.0f, -200.0f, 3e38f,
                        -3e38f, 2.0f, -2.5f}) {
#define EXPECT_SAME(name)                                                                           \
  expect_same(vgpu::name##_f(x), static_cast<float>(std::name(static_cast<double>(x))), #name "f"); \
  expect_same(static_cast<float>(vgpu::name##_d(x)), static_cast<float>(std::name(static_cast<double>(x))), #name)
    if (std::fabs(x) != 200.0f && std::fabs(x) != 2.5f && x != 2.0f && std::fabs(x) != 1.0f && std::fabs(x) != 3e38f) {
      EXPECT_SAME(sin);
      EXPECT_SAME(cos);
      EXPECT_SAME(tan);
      EXPECT_SAME(tanh);
      EXPECT_SAME(erf);
      EXPECT_SAME(atan);
      EXPECT_SAME(asinh);
      EXPECT_SAME(atanh);
      EXPECT_SAME(asin);
      EXPECT_SAME(log1p);
      EXPECT_SAME(expm1);
      EXPECT_SAME(sinh);
      EXPECT_SAME(cosh);
      EXPECT_SAME(cbrt);
      EXPECT_SAME(exp);
      EXPECT_SAME(erfc);
    }
#undef EXPECT_SAME
    if (!(std::fabs(x) <= 3.0f && std::fabs(x) >= 1.0f)) {
      if (!std::isnan(x) && std::fabs(x) > 90.0f) expect_same(vgpu::exp_f(x), static_cast<float>(std::exp(x)), "expf");
    }
    if (!(x > 0.0f) || std::isinf(x)) {
      expect_same(vgpu::log_f(x), std::log(x), "logf");
      expect_same(vgpu::log2_f(x), std::log2(x), "log2f");
      expect_same(vgpu::log10_d(x), std::log10(static_cast<double>(x)), "log10");
    }
    for (const float y : {0.0f, -0.0f, infinity, -infinity, NAN, 1.0f, -1.0f, 2.0f, -2.0f, 3.0f, -3.0f, 0.5f, 1e30f}) {
      expect_same(vgpu::pow_f(x, y), static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y))),
                  "powf");
      expect_same(vgpu::fmod_f(x, y), std::fmod(x, y), "fmodf");
      expect_same(vgpu::remainder_f(x, y), std::remainder(x, y), "remainderf");
      expect_same(vgpu::fmod_d(x, y), std::fmod(static_cast<double>(x), static_cast<double>(y)), "fmod");
      EXPECT_LE(ulps(vgpu::atan2_f(x, y), atan2l(x, y)), 3.0) << x << " " << y;
      EXPECT_LE(ulps(vgpu::atan2_d(x, y), atan2l(x, y)), 3.0) << x << " " << y;
      EXPECT_LE(ulps(vgpu::hypot_f(x, y), hypotl(x, y)), 2.0) << x << " " << y;
    }
  }
}

TEST(VgpuMath, RemaindersAreExact) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-120.0, 120.0), sign(-1.0, 1.0);
  for (int i = 0; i < 20'000; ++i) {
    const float x = static_cast<float>(sign(random) * std::exp2(exponent(random)));
    const float y = static_cast<float>(sign(random) * std::exp2(exponent(random)));
    expect_same(vgpu::fmod_f(x, y), std::fmod(x, y), "fmodf");
    expect_same(vgpu::remainder_f(x, y), std::remainder(x, y), "remainderf");
    expect_same(vgpu::fmod_d(x, y), std::fmod(static_cast<double>(x), static_cast<double>(y)), "fmod");
    expect_same(vgpu::remainder_d(x, y), std::remainder(static_cast<double>(x), static_cast<double>(y)), "remainder");
  }
}

TEST(VgpuMath, GammaFunction) {
  for (double x = -9.93; x < 30.0; x += 0.37) {
    EXPECT_NEAR(vgpu::tgamma_d(x) / std::tgamma(x), 1.0, 1e-13) << x;
    EXPECT_NEAR(vgpu::lgamma_d(x), std::lgamma(x), 1e-13 * (1.0 + std::fabs(std::lgamma(x)))) << x;
  }
  EXPECT_EQ(vgpu::tgamma_f(5.0f), 24.0f);
}

}  // namespace
}  // namespace cudal1
