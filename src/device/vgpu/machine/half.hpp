// 16-bit floating-point numbers, which the host's compiler may not know.
#pragma once

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

}  // namespace cudal1::vgpu
