#include "comparison.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace cudal1::conformance {
namespace {

//! Of the format's last place at this magnitude.
double unit_in_the_last_place(double magnitude, Dtype dtype) {
  int digits = 23, smallest = -126;
  if (dtype == Dtype::f16) digits = 10, smallest = -14;
  if (dtype == Dtype::bf16) digits = 7;
  if (dtype == Dtype::f64) digits = 52, smallest = -1022;
  const int exponent = magnitude == 0.0 ? smallest : std::max(std::ilogb(magnitude), smallest);
  return std::ldexp(1.0, exponent - digits);
}

double root_mean_square(const BufferSpec& buffer, const Bytes& bytes) {
  double sum = 0.0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < buffer.elements; ++i) {
    const double value = element(bytes, buffer.dtype, i);
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++finite;
  }
  return finite == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(finite));
}

//! In the bound's unit.
double distance(double result, double expected, const Bound& bound, Dtype dtype, double typical) {
  if (result == expected || (std::isnan(result) && std::isnan(expected))) return 0.0;
  if (!std::isfinite(result) || !std::isfinite(expected)) return HUGE_VAL;
  const double apart = std::fabs(result - expected), magnitude = std::fabs(expected);
  if (bound.kind == Bound::Kind::ulp) return apart / unit_in_the_last_place(magnitude, dtype);
  return apart / std::max(magnitude, typical);
}

std::string describe(const BufferSpec& buffer, std::size_t i, const Bytes& result, const Bytes& expected) {
  return fmt::format("{}[{}] is {:.9g}, expected {:.9g}", buffer.name, i, element(result, buffer.dtype, i),
                     element(expected, buffer.dtype, i));
}

}  // namespace

Difference compare(const BufferSpec& buffer, const Bound& bound, const Bytes& result, const Bytes& expected) {
  Difference difference;
  const std::size_t width = bytes_of(buffer.dtype);
  const bool exact = bound.kind == Bound::Kind::exactly;
  const double typical = bound.kind == Bound::Kind::relative ? root_mean_square(buffer, expected) : 0.0;
  for (std::size_t i = 0; i < buffer.elements; ++i) {
    if (std::memcmp(result.data() + i * width, expected.data() + i * width, width) == 0) continue;
    const double apart = exact ? difference.largest + 1.0
                               : distance(element(result, buffer.dtype, i), element(expected, buffer.dtype, i), bound,
                                          buffer.dtype, typical);
    difference.largest = std::max(difference.largest, apart);
    if ((!exact && apart <= bound.amount) || difference.first_beyond) continue;
    difference.first_beyond = i;
    difference.message = describe(buffer, i, result, expected);
  }
  return difference;
}

}  // namespace cudal1::conformance
