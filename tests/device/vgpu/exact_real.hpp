// Floating-point arithmetic by its definition: the exact result, of any size, rounded once. Slow and obvious.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudal1::vgpu {

//! A natural number of any size, 32 bits a digit, the lowest first, no leading zeros.
class Natural {
 public:
  Natural() = default;
  Natural(std::uint64_t value);

  bool is_zero() const { return digits_.empty(); }
  int bit_length() const;
  bool bit(int index) const;
  bool any_bit_below(int index) const;
  std::uint64_t low_bits() const;

  Natural shifted_left(int count) const;
  Natural shifted_right(int count) const;

  friend int compare(const Natural& a, const Natural& b);
  friend Natural operator+(const Natural& a, const Natural& b);
  friend Natural operator-(const Natural& a, const Natural& b);  //!< a must not be less
  friend Natural operator*(const Natural& a, const Natural& b);

 private:
  void trim();
  std::vector<std::uint32_t> digits_;
};

//! magnitude * 2^exponent, or infinite, or no number.
struct ExactReal {
  enum class Kind { number, infinite, nan };
  Kind kind = Kind::number;
  bool negative = false;
  Natural magnitude;
  int exponent = 0;

  bool is_zero() const { return kind == Kind::number && magnitude.is_zero(); }
  bool is_nan() const { return kind == Kind::nan; }
};

struct RealFormat {
  int exponent_bits, fraction_bits;
  int unused_bits = 0;  //!< below the fraction, as tf32 has them
  int width() const { return 1 + exponent_bits + fraction_bits + unused_bits; }
};
//! "f16", "bf16", "tf32", "f32" or "f64".
RealFormat format_of(const std::string& type);

enum class Direction { nearest, nearest_away, to_zero, down, up };

ExactReal real_of_bits(std::uint64_t bits, const RealFormat& format);
ExactReal real_of_integer(bool negative, std::uint64_t magnitude);
//! Every NaN becomes all ones but the sign.
std::uint64_t bits_of_real(const ExactReal& value, const RealFormat& format, Direction direction);

//! The direction decides the sign of an exact zero.
ExactReal sum(const ExactReal& a, const ExactReal& b, Direction direction);
ExactReal product(const ExactReal& a, const ExactReal& b);
//! Exact enough to be rounded: 60 digits, and one more that says whether others follow.
ExactReal quotient(const ExactReal& a, const ExactReal& b);
ExactReal square_root(const ExactReal& a);
//! To a whole number.
ExactReal integral(const ExactReal& a, Direction direction);

}  // namespace cudal1::vgpu
