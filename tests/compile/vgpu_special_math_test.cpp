// Inverse error functions, Bessel functions, lengths and remainders of the virtual GPU's headers, on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#define CUDAL1_MATH static inline
#include "cudal1_vgpu/special_math.h"

namespace cudal1 {
namespace {

namespace vgpu = cudal1_vgpu;

//! How far x lies from the root next to it, in units of its last place: one of Newton's steps in long double.
double ulps_from_root(double x, long double miss, long double slope) {
  const long double unit = std::ldexp(1.0L, std::ilogb(x) - 52);
  return static_cast<double>(std::fabs(miss / slope / unit));
}
long double slope_of_erf(long double x) { return 1.128379167095512573896158903121545172L * expl(-x * x); }

TEST(VgpuSpecialMath, InverseErrorFunctions) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> even(0.0, 1.0), exponent(-900.0, 0.0);
  double worst_erf = 0.0, worst_erfc = 0.0;
  for (int i = 0; i < 50'000; ++i) {
    const double z = even(random) * (i % 2 == 0 ? 1.0 : std::exp2(exponent(random) / 30.0));
    const double x = vgpu::erfinv_d(z);
    if (x < 5.0 && x != 0.0)
      worst_erf = std::max(worst_erf, z < 0.5 ? ulps_from_root(x, erfl(x) - z, slope_of_erf(x))
                                              : ulps_from_root(x, erfcl(x) - (1.0L - z), slope_of_erf(x)));
    const double y = even(random) * std::exp2(exponent(random));
    const double inverse = vgpu::erfcinv_d(y);
    if (y < 0.9) worst_erfc = std::max(worst_erfc, ulps_from_root(inverse, erfcl(inverse) - y, slope_of_erf(inverse)));
  }
  EXPECT_LE(worst_erf, 4.0);
  EXPECT_LE(worst_erfc, 4.0);
}

TEST(VgpuSpecialMath, InverseErrorFunctionsAtTheEnds) {
  EXPECT_EQ(vgpu::erfinv_d(1.0), HUGE_VAL);
  EXPECT_EQ(vgpu::erfinv_d(-1.0), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(vgpu::erfinv_d(1.0000001)));
  EXPECT_EQ(vgpu::erfcinv_d(0.0), HUGE_VAL);
  EXPECT_EQ(vgpu::erfcinv_d(2.0), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(vgpu::erfcinv_d(-0.1)));
  EXPECT_EQ(vgpu::normcdfinv_f(0.5f), 0.0f);
  EXPECT_NEAR(vgpu::normcdfinv_d(0.975), 1.959963984540054, 2e-15);
  EXPECT_NEAR(vgpu::erfcinv_d(1e-310), 26.65, 0.1);
}

TEST(VgpuSpecialMath, BesselFunctions) {
  for (double x = 0.003; x < 200.0; x *= 1.037) {
    EXPECT_NEAR(vgpu::j0_d(x), ::j0(x), 3e-15) << x;
    EXPECT_NEAR(vgpu::j1_d(x), ::j1(x), 3e-15) << x;
    EXPECT_NEAR(vgpu::y0_d(x), ::y0(x), 1e-14 * (1.0 + std::fabs(::y0(x)))) << x;
    EXPECT_NEAR(vgpu::y1_d(x), ::y1(x), 1e-14 * (1.0 + std::fabs(::y1(x)))) << x;
    for (const int order : {2, 3, 7, 20, 60}) {
      EXPECT_NEAR(vgpu::jn_d(order, x), ::jn(order, x), 2e-14) << order << " " << x;
      const double y = ::yn(order, x);
      if (std::isinf(y)) continue;
      EXPECT_NEAR(vgpu::yn_d(order, x), y, 1e-12 * (1.0 + std::fabs(y))) << order << " " << x;
    }
  }
  EXPECT_NEAR(vgpu::jn_d(3, 1e-6) / ::jn(3, 1e-6), 1.0, 1e-12);
  EXPECT_EQ(vgpu::j1_d(-2.0), -vgpu::j1_d(2.0));
  EXPECT_EQ(vgpu::y0_d(0.0), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(vgpu::y1_d(-1.0)));
  EXPECT_EQ(vgpu::j0_d(HUGE_VAL), 0.0);
}

TEST(VgpuSpecialMath, ModifiedBesselFunctions) {
  for (double x = 0.01; x < 700.0; x *= 1.07) {
    EXPECT_NEAR(vgpu::cyl_bessel_i0_d(x) / std::cyl_bessel_i(0.0, x), 1.0, 1e-13) << x;
    EXPECT_NEAR(vgpu::cyl_bessel_i1_d(x) / std::cyl_bessel_i(1.0, x), 1.0, 1e-13) << x;
  }
  EXPECT_EQ(vgpu::cyl_bessel_i0_d(0.0), 1.0);
  EXPECT_EQ(vgpu::cyl_bessel_i1_d(-1.0), -vgpu::cyl_bessel_i1_d(1.0));
}

TEST(VgpuSpecialMath, LengthsOfVectorsNeitherOverflowNorVanish) {
  for (const double size : {1e-320, 1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    const double parts[4] = {2.0 * size, -4.0 * size, 5.0 * size, 6.0 * size};
    EXPECT_NEAR(vgpu::length_d(4, parts) / (9.0 * size), 1.0, size < 1e-300 ? 1e-3 : 1e-15) << size;
  }
  const double with_infinity[2] = {NAN, -HUGE_VAL}, with_nan[2] = {1.0, NAN};
  EXPECT_EQ(vgpu::length_d(2, with_infinity), HUGE_VAL);
  EXPECT_TRUE(std::isnan(vgpu::length_d(2, with_nan)));
  const float large[3] = {2e38f, 2e38f, 1e38f};
  EXPECT_FLOAT_EQ(vgpu::length_f(3, large), 3e38f);
}

TEST(VgpuSpecialMath, RemaindersWithTheLastBitsOfTheQuotient) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-8.0, 8.0), sign(-1.0, 1.0);
  for (int i = 0; i < 20'000; ++i) {
    const double scale = i % 3 == 0 ? 1e300 : i % 3 == 1 ? 1e-300 : 1.0;
    double x = sign(random) * std::exp2(exponent(random)) * scale,
           y = sign(random) * std::exp2(exponent(random)) * scale;
    if (i % 5 == 0) x = std::round(x / scale) * scale, y = (std::round(std::fabs(y) / scale) + 1.0) * scale;  // halves
    int ours = 0, theirs = 0;
    const double rest = vgpu::remquo_d(x, y, &ours), expected = std::remquo(x, y, &theirs);
    ASSERT_EQ(rest, expected) << x << " " << y;
    ASSERT_EQ(std::abs(ours) & 7, std::abs(theirs) & 7) << x << " " << y;
    ASSERT_GE(ours * theirs, 0) << x << " " << y;
  }
}

}  // namespace
}  // namespace cudal1
