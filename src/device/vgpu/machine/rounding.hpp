// Rounding to any floating-point format in every way that PTX has, by integers alone: exact, portable, not fast.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace cudal1::vgpu {

enum class Rounding : std::uint8_t { nearest, to_zero, down, up, nearest_away };

struct Format {
  int exponent_bits, fraction_bits;
  bool has_infinity = true;  //!< else only all ones is no number
};
inline constexpr Format half_format{5, 10}, bfloat_format{8, 7}, tf32_format{8, 10}, single_format{8, 23},
    double_format{11, 52}, e5m2_format{5, 2}, e4m3_format{4, 3, false};

//! The first bits, sign apart, that are not a finite number.
constexpr std::uint64_t beyond_finite(Format format) {
  const std::uint64_t exponents = std::uint64_t{1} << format.exponent_bits;
  return format.has_infinity ? (exponents - 1) << format.fraction_bits : (exponents << format.fraction_bits) - 1;
}

//! A finite number: magnitude * 2^exponent, and its sign.
struct Parts {
  bool negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0;
};

inline Parts parts_of(double finite) {
  const auto bits = std::bit_cast<std::uint64_t>(finite);
  const int exponent = static_cast<int>(bits >> 52 & 2047);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const bool normal = exponent != 0;
  return {bits >> 63 != 0, normal ? fraction | std::uint64_t{1} << 52 : fraction, (normal ? exponent : 1) - 1075};
}

namespace detail {

//! `rest` is what is cut off, as a part of 2^64.
inline bool rounds_up(Rounding mode, bool negative, bool odd, std::uint64_t rest) {
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  switch (mode) {
    case Rounding::nearest:
      return rest > half || (rest == half && odd);
    case Rounding::nearest_away:
      return rest >= half;
    case Rounding::up:
      return rest != 0 && !negative;
    case Rounding::down:
      return rest != 0 && negative;
    case Rounding::to_zero:
      return false;
  }
  return false;
}

}  // namespace detail

//! The bits of the format, without its sign; infinite where the number is too large and the mode does not stop before.
inline std::uint64_t rounded_magnitude(Parts parts, Format format, Rounding mode) {
  if (parts.magnitude == 0) return 0;
  const int shift = std::countl_zero(parts.magnitude);
  const std::uint64_t digits = parts.magnitude << shift;
  const int exponent = parts.exponent - shift + 63, smallest = 2 - (1 << (format.exponent_bits - 1));
  const int below = exponent < smallest ? smallest - exponent : 0;  // subnormals lose that many digits
  const int dropped = 63 - format.fraction_bits + below;
  const std::uint64_t kept = dropped < 64 ? digits >> dropped : 0;
  const std::uint64_t rest = dropped < 64 ? digits << (64 - dropped) : dropped == 64 ? digits : 1;
  const bool up = detail::rounds_up(mode, parts.negative, (kept & 1) != 0, rest);
  // The leading one, where there is one, adds one to the exponent; so does a carry.
  const std::uint64_t biased = below > 0 ? 0 : static_cast<std::uint64_t>(exponent - smallest) << format.fraction_bits;
  const std::uint64_t bits = biased + kept + (up ? 1 : 0);
  const std::uint64_t infinity = beyond_finite(format);
  if (bits < infinity) return bits;
  const bool stops = mode == Rounding::to_zero || mode == (parts.negative ? Rounding::up : Rounding::down);
  return stops ? infinity - 1 : infinity;
}

//! With its sign. Not for NaN.
inline std::uint64_t rounded(double value, Format format, Rounding mode) {
  const std::uint64_t sign =
      std::signbit(value) ? std::uint64_t{1} << (format.exponent_bits + format.fraction_bits) : 0;
  if (std::isinf(value)) return sign | beyond_finite(format);
  return sign | rounded_magnitude(parts_of(value), format, mode);
}

//! a + b, and where that is not exact the neighbour with an odd last digit: whatever rounds this to at most 51 digits
//! gives what it would have made of the exact sum. For sums that neither overflow nor underflow.
inline double sum_to_odd(double a, double b) {
  const double sum = a + b, b_seen = sum - a;
  const double error = (a - (sum - b_seen)) + (b - b_seen);  // exact, after Knuth
  const auto bits = std::bit_cast<std::int64_t>(sum);
  const bool away = (error > 0) == (sum > 0);
  const bool change = (error > 0 || error < 0) && (bits & 1) == 0;  // NaN beside infinite sums
  return std::bit_cast<double>(change ? (away ? bits + 1 : bits - 1) : bits);
}

}  // namespace cudal1::vgpu
