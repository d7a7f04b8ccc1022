#include "buffers.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace cudal1::conformance {
namespace {

//! A binary format with a sign, an exponent and `digits` bits after the point.
std::uint16_t round_to_16_bits(double value, int digits, int smallest_exponent, double largest) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const auto infinity = static_cast<std::uint16_t>(0x8000 - (1 << digits));
  if (std::isnan(value)) return 0x7fff;
  const double magnitude = std::fabs(value);
  if (magnitude >= largest) return sign | infinity;
  if (magnitude == 0.0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), smallest_exponent);
  const auto rounded = static_cast<int>(std::nearbyint(std::ldexp(magnitude, digits - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent - smallest_exponent) << digits) + rounded));
}

float half_to_float(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction ? std::numeric_limits<float>::quiet_NaN() : sign * HUGE_VALF;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

//! Well mixed bits of a number; the constants are those of the splitmix64 generator.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t seed_of(const std::string& name) {
  std::uint64_t seed = 1;
  for (const char c : name) seed = mixed(seed ^ static_cast<unsigned char>(c));
  return seed;
}

//! From 0 to below 1.
double fraction(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

double number_at(const Contents& contents, bool floating, std::uint64_t bits, std::size_t index) {
  switch (contents.kind) {
    case Contents::Kind::random:  // floating; whole numbers take the bits as they are
      return floating ? 2.0 * fraction(bits) - 1.0 : 0.0;
    case Contents::Kind::one:
      return 1.0;
    case Contents::Kind::iota:
      return static_cast<double>(index);
    case Contents::Kind::below:
      return std::floor(contents.high * fraction(bits));
    case Contents::Kind::between: {
      const double number = contents.low + (contents.high - contents.low) * fraction(bits);
      return floating ? number : std::floor(number);
    }
    case Contents::Kind::zero:
    case Contents::Kind::poison:
      break;
  }
  return 0.0;
}

template <class T>
void fill(const BufferSpec& buffer, Bytes& bytes) {
  const std::uint64_t seed = seed_of(buffer.name);
  const bool floating = is_floating(buffer.dtype);
  const auto elements = view<T>(bytes);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::uint64_t bits = mixed(seed + i);
    if constexpr (std::is_integral_v<T>) {
      if (buffer.contents.kind == Contents::Kind::random) {
        elements[i] = static_cast<T>(bits);
        continue;
      }
    }
    elements[i] = static_cast<T>(number_at(buffer.contents, floating, bits, i));
  }
}

//! Calls the function with a null pointer of the C++ type.
template <class Function>
auto with_type(Dtype dtype, Function function) {
  switch (dtype) {
    case Dtype::f16:
      return function(static_cast<Half*>(nullptr));
    case Dtype::bf16:
      return function(static_cast<Bfloat*>(nullptr));
    case Dtype::f64:
      return function(static_cast<double*>(nullptr));
    case Dtype::i8:
      return function(static_cast<std::int8_t*>(nullptr));
    case Dtype::u8:
      return function(static_cast<std::uint8_t*>(nullptr));
    case Dtype::i32:
      return function(static_cast<std::int32_t*>(nullptr));
    case Dtype::u32:
      return function(static_cast<std::uint32_t*>(nullptr));
    case Dtype::i64:
      return function(static_cast<std::int64_t*>(nullptr));
    case Dtype::u64:
      return function(static_cast<std::uint64_t*>(nullptr));
    case Dtype::f32:
      break;
  }
  return function(static_cast<float*>(nullptr));
}

}  // namespace

Half::Half(double value) : bits(round_to_16_bits(value, 10, -14, 65520.0)) {}
Half::operator float() const { return half_to_float(bits); }
Bfloat::Bfloat(double value) : bits(round_to_16_bits(value, 7, -126, 0x1.ffp127)) {}
Bfloat::operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

Bytes initial_bytes(const BufferSpec& buffer) {
  const bool poison = buffer.contents.kind == Contents::Kind::poison;
  Bytes bytes(buffer.bytes(), poison ? std::byte{0xff} : std::byte{0});
  if (poison || buffer.contents.kind == Contents::Kind::zero) return bytes;
  with_type(buffer.dtype, [&](auto* type) { fill<std::remove_pointer_t<decltype(type)>>(buffer, bytes); });
  return bytes;
}

Memory initial_memory(const Case& given) {
  Memory memory;
  for (const BufferSpec& buffer : given.buffers) memory[buffer.name] = initial_bytes(buffer);
  return memory;
}

double element(const Bytes& bytes, Dtype dtype, std::size_t index) {
  return with_type(dtype, [&](auto* type) {
    return static_cast<double>(view<std::remove_pointer_t<decltype(type)>>(bytes)[index]);
  });
}

}  // namespace cudal1::conformance
