// 16-bit floating-point numbers, which the host's compiler may not know.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace cudal1::vgpu {

inline float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(fraction != 0 ? 0x7fffffffu : sign | 0x7f800000u);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

//! To nearest, ties to even; too large becomes infinite, NaN the device's one.
inline std::uint16_t half_of_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffffu;
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  if (magnitude > 0x7f800000u) return 0x7fffu;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;            // 65520 and more
  if (magnitude < 0x38800000u) {                                  // below 2^-14 the last place is 2^-24
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;  // adding 0.5 rounds at just that place
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(scaled) - 0x3f000000u));
  }
  const std::uint32_t odd = magnitude >> 13 & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

inline float float_of_bfloat(std::uint16_t bfloat) { return std::bit_cast<float>(std::uint32_t{bfloat} << 16); }

inline std::uint16_t bfloat_of_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

//! Rounds to a multiple of the last place that a format with this many fraction bits and this smallest exponent has:
//! adding a number whose own last place is that one does it, ties to even.
inline double rounded_to_last_place(double value, int fraction_bits, int smallest_exponent) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t smallest = static_cast<std::uint64_t>(1023 + smallest_exponent);
  const std::uint64_t exponent = std::max(bits >> 52 & 2047u, smallest);
  const auto large = (exponent + 52 - static_cast<std::uint64_t>(fraction_bits)) << 52 | std::uint64_t{1} << 51;
  const double anchor = std::bit_cast<double>(large | (bits & std::uint64_t{1} << 63));
  return (value + anchor) - anchor;
}

//! One rounding from a double: what is left is exact in fp32, and of few enough digits.
inline std::uint16_t half_of_double(double value) {
  const auto sign = static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(value) >> 48 & 0x8000u);
  if (!(value < 0x1p17 && value > -0x1p17)) return value != value ? 0x7fffu : sign | 0x7c00u;
  return sign | half_of_float(static_cast<float>(rounded_to_last_place(value, 10, -14)));
}
inline std::uint16_t bfloat_of_double(double value) {
  const auto sign = static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(value) >> 48 & 0x8000u);
  if (!(value < 0x1p129 && value > -0x1p129)) return value != value ? 0x7fffu : sign | 0x7f80u;
  return sign | bfloat_of_float(static_cast<float>(rounded_to_last_place(value, 7, -126)));
}

// Operands of these types tell the two 16-bit formats apart where only the bits are in a register.
struct Half {
  std::uint16_t bits;
  float as_float() const { return float_of_half(bits); }
  static Half nearest(double value) { return {half_of_double(value)}; }
  static Half exactly(float value) { return {half_of_float(value)}; }
  static constexpr std::uint16_t one = 0x3c00u, infinity = 0x7c00u, smallest_normal = 0x0400u;
};
struct Bfloat {
  std::uint16_t bits;
  float as_float() const { return float_of_bfloat(bits); }
  static Bfloat nearest(double value) { return {bfloat_of_double(value)}; }
  static Bfloat exactly(float value) { return {bfloat_of_float(value)}; }
  static constexpr std::uint16_t one = 0x3f80u, infinity = 0x7f80u, smallest_normal = 0x0080u;
};

}  // namespace cudal1::vgpu
