#include "exact_real.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace cudal1::vgpu {
namespace {

constexpr int digit_bits = 32;
constexpr int quotient_digits = 60;

ExactReal no_number() { return {ExactReal::Kind::nan, false, {}, 0}; }
ExactReal infinity(bool negative) { return {ExactReal::Kind::infinite, negative, {}, 0}; }

//! Whether what is cut off below bit `count` makes the rest one larger.
bool rounds_up(const Natural& whole, int count, bool negative, Direction direction) {
  if (count <= 0) return false;
  const bool half = whole.bit(count - 1), more = whole.any_bit_below(count - 1), odd = whole.bit(count);
  switch (direction) {
    case Direction::nearest:
      return half && (more || odd);
    case Direction::nearest_away:
      return half;
    case Direction::up:
      return (half || more) && !negative;
    case Direction::down:
      return (half || more) && negative;
    case Direction::to_zero:
      return false;
  }
  return false;
}

Natural rounded(const Natural& whole, int count, bool negative, Direction direction) {
  if (count <= 0) return whole.shifted_left(-count);
  const Natural kept = whole.shifted_right(count);
  return rounds_up(whole, count, negative, direction) ? kept + Natural(1) : kept;
}

}  // namespace

Natural::Natural(std::uint64_t value)
    : digits_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> digit_bits)} {
  trim();
}

void Natural::trim() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
}

int Natural::bit_length() const {
  if (digits_.empty()) return 0;
  return static_cast<int>(digits_.size()) * digit_bits - std::countl_zero(digits_.back());
}

bool Natural::bit(int index) const {
  const auto digit = static_cast<std::size_t>(index / digit_bits);
  return index >= 0 && digit < digits_.size() && (digits_[digit] >> (index % digit_bits) & 1) != 0;
}

bool Natural::any_bit_below(int index) const {
  for (int i = 0; i < std::min(index, bit_length()); ++i)
    if (bit(i)) return true;
  return false;
}

std::uint64_t Natural::low_bits() const {
  const std::uint64_t low = digits_.empty() ? 0 : digits_[0];
  return digits_.size() < 2 ? low : low | std::uint64_t{digits_[1]} << digit_bits;
}

Natural Natural::shifted_left(int count) const {
  if (is_zero() || count == 0) return *this;
  Natural result;
  result.digits_.resize(static_cast<std::size_t>(count / digit_bits));
  std::uint64_t carry = 0;
  for (const std::uint32_t digit : digits_) {
    carry |= std::uint64_t{digit} << (count % digit_bits);
    result.digits_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= digit_bits;
  }
  result.digits_.push_back(static_cast<std::uint32_t>(carry));
  result.trim();
  return result;
}

Natural Natural::shifted_right(int count) const {
  Natural result;
  for (std::size_t i = static_cast<std::size_t>(count / digit_bits); i < digits_.size(); ++i) {
    const std::uint64_t above = i + 1 < digits_.size() ? digits_[i + 1] : 0;
    result.digits_.push_back(static_cast<std::uint32_t>((above << digit_bits | digits_[i]) >> (count % digit_bits)));
  }
  result.trim();
  return result;
}

int compare(const Natural& a, const Natural& b) {
  if (a.digits_.size() != b.digits_.size()) return a.digits_.size() < b.digits_.size() ? -1 : 1;
  for (std::size_t i = a.digits_.size(); i-- > 0;)
    if (a.digits_[i] != b.digits_[i]) return a.digits_[i] < b.digits_[i] ? -1 : 1;
  return 0;
}

Natural operator+(const Natural& a, const Natural& b) {
  Natural result;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < std::max(a.digits_.size(), b.digits_.size()) || carry != 0; ++i) {
    if (i < a.digits_.size()) carry += a.digits_[i];
    if (i < b.digits_.size()) carry += b.digits_[i];
    result.digits_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= digit_bits;
  }
  result.trim();
  return result;
}

Natural operator-(const Natural& a, const Natural& b) {
  Natural result;
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < a.digits_.size(); ++i) {
    borrow += std::int64_t{a.digits_[i]} - (i < b.digits_.size() ? b.digits_[i] : 0);
    result.digits_.push_back(static_cast<std::uint32_t>(borrow));
    borrow >>= digit_bits;
  }
  if (borrow != 0) throw std::logic_error("a difference below zero");
  result.trim();
  return result;
}

Natural operator*(const Natural& a, const Natural& b) {
  Natural result;
  for (std::size_t i = 0; i < b.digits_.size(); ++i) {
    Natural row;
    row.digits_.resize(i);
    std::uint64_t carry = 0;
    for (const std::uint32_t digit : a.digits_) {
      carry += std::uint64_t{digit} * b.digits_[i];
      row.digits_.push_back(static_cast<std::uint32_t>(carry));
      carry >>= digit_bits;
    }
    row.digits_.push_back(static_cast<std::uint32_t>(carry));
    row.trim();
    result = result + row;
  }
  return result;
}

RealFormat format_of(const std::string& type) {
  if (type == "f16") return {5, 10};
  if (type == "bf16") return {8, 7};
  if (type == "tf32") return {8, 10, 13};
  if (type == "f32") return {8, 23};
  if (type == "f64") return {11, 52};
  throw std::logic_error("no floating-point type: " + type);
}

ExactReal real_of_bits(std::uint64_t bits, const RealFormat& format) {
  const bool negative = (bits >> (format.width() - 1) & 1) != 0;
  bits >>= format.unused_bits;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.fraction_bits) - 1);
  const std::uint64_t largest = (std::uint64_t{1} << format.exponent_bits) - 1;
  const std::uint64_t biased = bits >> format.fraction_bits & largest;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  if (biased == largest) return fraction != 0 ? no_number() : infinity(negative);
  const std::uint64_t leading = biased == 0 ? 0 : std::uint64_t{1} << format.fraction_bits;
  const int exponent = std::max(static_cast<int>(biased), 1) - bias - format.fraction_bits;
  return {ExactReal::Kind::number, negative, Natural(leading | fraction), exponent};
}

ExactReal real_of_integer(bool negative, std::uint64_t magnitude) {
  return {ExactReal::Kind::number, negative, Natural(magnitude), 0};
}

std::uint64_t bits_of_real(const ExactReal& value, const RealFormat& format, Direction direction) {
  const std::uint64_t sign = value.negative ? std::uint64_t{1} << (format.width() - 1) : 0;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint64_t infinite = ((std::uint64_t{1} << format.exponent_bits) - 1)
                                 << (format.fraction_bits + format.unused_bits);
  if (value.is_nan()) return (std::uint64_t{1} << (format.width() - 1)) - 1;
  if (value.kind == ExactReal::Kind::infinite) return sign | infinite;
  if (value.is_zero()) return sign;
  // The last place: a fraction's length below the first digit, but no lower than that of subnormal numbers.
  const int first = value.exponent + value.magnitude.bit_length() - 1;
  const int last = std::max(first, 1 - bias) - format.fraction_bits;
  const Natural digits = rounded(value.magnitude, last - value.exponent, value.negative, direction);
  const int exponent = last + format.fraction_bits + (digits.bit_length() > format.fraction_bits + 1 ? 1 : 0);
  if (exponent > bias) {
    const bool outwards = direction == Direction::nearest || direction == Direction::nearest_away ||
                          direction == (value.negative ? Direction::down : Direction::up);
    return sign | (outwards ? infinite : infinite - (std::uint64_t{1} << format.unused_bits));
  }
  // Rounding up may have made one digit too many, the last of them zero.
  const bool subnormal = digits.bit_length() <= format.fraction_bits;
  const std::uint64_t fraction = digits.low_bits() >> (digits.bit_length() > format.fraction_bits + 1 ? 1 : 0) &
                                 ((std::uint64_t{1} << format.fraction_bits) - 1);
  const std::uint64_t biased = subnormal ? 0 : static_cast<std::uint64_t>(exponent + bias);
  return sign | (biased << format.fraction_bits | fraction) << format.unused_bits;
}

ExactReal sum(const ExactReal& a, const ExactReal& b, Direction direction) {
  if (a.is_nan() || b.is_nan()) return no_number();
  if (a.kind == ExactReal::Kind::infinite)
    return b.kind == ExactReal::Kind::infinite && a.negative != b.negative ? no_number() : a;
  if (b.kind == ExactReal::Kind::infinite) return b;
  const int exponent = std::min(a.exponent, b.exponent);
  const Natural x = a.magnitude.shifted_left(a.exponent - exponent),
                y = b.magnitude.shifted_left(b.exponent - exponent);
  if (a.negative == b.negative) return {ExactReal::Kind::number, a.negative, x + y, exponent};
  const int order = compare(x, y);
  if (order == 0) return {ExactReal::Kind::number, direction == Direction::down, {}, 0};
  return {ExactReal::Kind::number, order > 0 ? a.negative : b.negative, order > 0 ? x - y : y - x, exponent};
}

ExactReal product(const ExactReal& a, const ExactReal& b) {
  const bool negative = a.negative != b.negative;
  if (a.is_nan() || b.is_nan()) return no_number();
  if (a.kind == ExactReal::Kind::infinite || b.kind == ExactReal::Kind::infinite)
    return a.is_zero() || b.is_zero() ? no_number() : infinity(negative);
  return {ExactReal::Kind::number, negative, a.magnitude * b.magnitude, a.exponent + b.exponent};
}

ExactReal quotient(const ExactReal& a, const ExactReal& b) {
  const bool negative = a.negative != b.negative, infinite = a.kind == ExactReal::Kind::infinite;
  if (a.is_nan() || b.is_nan()) return no_number();
  if (b.kind == ExactReal::Kind::infinite)
    return infinite ? no_number() : ExactReal{ExactReal::Kind::number, negative, {}, 0};
  if (b.is_zero()) return a.is_zero() ? no_number() : infinity(negative);
  if (infinite) return infinity(negative);
  if (a.is_zero()) return {ExactReal::Kind::number, negative, {}, 0};
  const int shift = quotient_digits + b.magnitude.bit_length();
  const Natural dividend = a.magnitude.shifted_left(shift);
  Natural rest, digits;
  for (int i = dividend.bit_length() - 1; i >= 0; --i) {  // as on paper
    rest = rest.shifted_left(1) + Natural(dividend.bit(i) ? 1 : 0);
    const bool fits = compare(rest, b.magnitude) >= 0;
    if (fits) rest = rest - b.magnitude;
    digits = digits.shifted_left(1) + Natural(fits ? 1 : 0);
  }
  digits = digits.shifted_left(1) + Natural(rest.is_zero() ? 0 : 1);
  return {ExactReal::Kind::number, negative, digits, a.exponent - shift - b.exponent - 1};
}

ExactReal square_root(const ExactReal& a) {
  if (a.is_nan() || a.is_zero()) return a;
  if (a.negative) return no_number();
  if (a.kind == ExactReal::Kind::infinite) return a;
  const int shift = 2 * quotient_digits + (a.exponent & 1);  // so that the exponent is even
  const Natural square = a.magnitude.shifted_left(shift);
  Natural root;
  for (int i = (square.bit_length() + 1) / 2; i >= 0; --i) {
    const Natural larger = root + Natural(1).shifted_left(i);
    if (compare(larger * larger, square) <= 0) root = larger;
  }
  const bool exact = compare(root * root, square) == 0;
  return {ExactReal::Kind::number, false, root.shifted_left(1) + Natural(exact ? 0 : 1), (a.exponent - shift) / 2 - 1};
}

ExactReal integral(const ExactReal& a, Direction direction) {
  if (a.kind != ExactReal::Kind::number || a.exponent >= 0) return a;
  return {ExactReal::Kind::number, a.negative, rounded(a.magnitude, -a.exponent, a.negative, direction), 0};
}

}  // namespace cudal1::vgpu
