// The two 16-bit floating-point formats as fp32, bit by bit: every value of theirs is one of fp32's. And bf16 of fp32.
#pragma once

#include <bit>
#include <cstdint>

namespace cudal1 {

//! IEEE 754 binary16. No branches, so that loops over it become vector code.
inline float float_of_f16(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
  constexpr std::uint32_t exponent_shift = (127 - 15) << 23;
  const std::uint32_t normal = (magnitude << 13) + exponent_shift;
  const std::uint32_t special = normal + exponent_shift;  // infinities and NaN: the exponent is all ones again
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  const std::uint32_t value = magnitude < 0x0400u ? subnormal : magnitude < 0x7c00u ? normal : special;
  return std::bit_cast<float>(value | sign);
}

inline float float_of_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

//! The nearest one, of two the even one; what is larger than all of them becomes infinite. Not for NaN.
inline std::uint16_t bf16_of_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace cudal1
