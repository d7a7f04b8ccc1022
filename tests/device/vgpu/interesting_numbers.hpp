// Operands for tests of arithmetic: numbers at the edges of their types turn up far more often than by chance.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "device/vgpu/machine/operation.hpp"

namespace cudal1::vgpu {

inline std::uint64_t edge_of_a_type(Random& random) {
  static constexpr std::uint64_t edges[] = {
      0, 1, 2, 31, 32, 33, 63, 64, 65, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
      // of fp32
      0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000, 0x00800000, 0x007fffff, 0x7f7fffff, 0x7e800001,
      // of fp64
      0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x7ff0000000000000, 0xfff8000000000000,
      0x3ff0000000000000, 0x0010000000000000, 0x7fefffffffffffff,
      // of fp16 and bf16, one or two in a word
      0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x0400, 0x03ff, 0x7bff, 0x3f80, 0x7f80, 0x7f7f, 0x0080, 0x007f,
      0x3c007c00, 0x7bff0001, 0x3f807f80, 0xff7f0001, 0x7e003c00};
  return edges[random.below(std::size(edges))];
}

//! Near one and with few digits, so that sums and products meet each other and end in ties.
inline std::uint64_t handy_real(Random& random, int exponent_bits, int fraction_bits) {
  const std::uint64_t bias = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
  const std::uint64_t spread = random.below(4) == 0 ? bias : 12;
  const std::uint64_t exponent = bias - spread + random.below(2 * spread);
  const std::uint64_t digits = random.next() & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t kept = fraction_bits - random.below(static_cast<std::uint64_t>(fraction_bits) + 1);
  const std::uint64_t fraction = digits >> kept << kept;
  const std::uint64_t last = random.below(8) == 0 ? 1 : 0;
  return random.below(2) << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction | last;
}

inline std::uint64_t handy_bits(Random& random, Kind kind) {
  const auto small = [&] { return random.below(2) == 0 ? handy_real(random, 5, 10) : handy_real(random, 8, 7); };
  if (kind == Kind::real64) return handy_real(random, 11, 52);
  if (kind == Kind::real32 || random.below(2) == 0) return handy_real(random, 8, 23);
  return small() | small() << 16;
}

inline std::uint64_t interesting_bits(Random& random, Kind kind) {
  std::uint64_t bits = random.next();
  switch (random.below(6)) {
    case 0:
      bits = edge_of_a_type(random);
      break;
    case 1:
      bits = random.below(100);
      break;
    case 2:
      bits = 0 - random.below(100);
      break;
    case 3:
    case 4:
      bits = handy_bits(random, kind);
      break;
    default:
      break;
  }
  const std::uint32_t width = bits_of(kind);
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

}  // namespace cudal1::vgpu
