#include "scalar_oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "exact_real.hpp"

namespace cudal1::vgpu {
namespace {

using Bits = std::uint64_t;
__extension__ using Exact = __int128;  // holds every operand, and sums of them

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool is_pair(const std::string& type) { return type.ends_with("x2"); }
bool is_real(const std::string& type) { return type[0] == 'f' || type.starts_with("bf") || type.starts_with("tf"); }

class Lane {
 public:
  Lane(const std::string& name, const std::vector<Bits>& operands, bool* carry)
      : name_(name), operands_(operands), carry_(carry) {
    parts_ = parts_of(name);
    type_ = parts_.back();
    if (parts_[0] == "prmt") type_ = "b32";  // the mode comes last
    width_ = type_ == "pred" ? 1 : std::stoi(type_.substr(type_.find_first_of("0123456789")));
  }

  Bits run() const {
    const std::string& op = parts_[0];
    if (op == "mov") return operands_[0];
    if (op == "selp") return operands_[2] != 0 ? operands_[0] : operands_[1];
    if (op == "cvt") return convert();
    if (op == "setp") return compare();
    if (op == "set") return set();
    if (op == "testp") return classify();
    if (is_pair(type_)) return on_both();
    if (op == "dp4a" || op == "dp2a") return dot_product(op);
    if (name_.find(".cc.") != std::string::npos || op == "addc" || op == "subc" || op == "madc") return carried(op);
    if (type_ == "pred" || (type_[0] == 'b' && type_ != "bf16")) return logic(op);
    return is_real(type_) ? real(op) : integer(op);
  }

 private:
  bool has(const std::string& modifier) const {
    return std::find(parts_.begin() + 1, parts_.end(), modifier) != parts_.end();
  }

  //! f16x2 is f16 on each half.
  Bits on_both() const {
    const std::string single = name_.substr(0, name_.size() - 2);
    std::vector<Bits> low, high;
    for (const Bits word : operands_) {
      low.push_back(word & 0xffff);
      high.push_back(word >> 16);
    }
    return evaluate_in_one_lane(single, low) | evaluate_in_one_lane(single, high) << 16;
  }

  [[noreturn]] void unknown() const { throw std::logic_error("the oracle does not know " + name_); }

  static Bits low_bits(Bits value, int width) { return width == 64 ? value : value & ((Bits{1} << width) - 1); }
  static Bits low_bits_of(Exact value, int width) { return low_bits(static_cast<Bits>(value), width); }

  //! The operand as the number it stands for.
  Exact number(std::size_t i) const {
    const Bits bits = low_bits(operands_[i], width_);
    const bool negative = type_[0] == 's' && (bits >> (width_ - 1) & 1) != 0;
    return negative ? Exact(bits) - (Exact(1) << width_) : Exact(bits);
  }

  //! The 128 bits of a product; those of u64 fit exactly no signed type, so by halves.
  static void full_product(Bits a, Bits b, Bits& high, Bits& low) {
    const Bits a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    const Bits middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffffu);
    high = a1 * b1 + (middle >> 32) + (other >> 32);
    low = a * b;
  }

  Bits upper_half() const {
    if (width_ < 64) return low_bits_of(number(0) * number(1) >> width_, width_);
    Bits high = 0, low = 0;
    full_product(operands_[0], operands_[1], high, low);
    if (type_[0] == 's') {  // a negative operand counts 2^64 too much
      if (number(0) < 0) high -= operands_[1];
      if (number(1) < 0) high -= operands_[0];
    }
    return high;
  }

  Bits lower_half() const { return low_bits(low_bits(operands_[0], width_) * low_bits(operands_[1], width_), width_); }

  Bits integer(const std::string& op) const {
    if (has("sat")) return saturated(op);
    if (op == "add") return low_bits_of(number(0) + number(1), width_);
    if (op == "sub") return low_bits_of(number(0) - number(1), width_);
    if (op == "neg") return low_bits_of(-number(0), width_);
    if (op == "abs") return low_bits_of(number(0) < 0 ? -number(0) : number(0), width_);
    if (op == "min") return low_bits_of(number(0) < number(1) ? number(0) : number(1), width_);
    if (op == "max") return low_bits_of(number(0) > number(1) ? number(0) : number(1), width_);
    if (op == "div") return low_bits_of(number(1) == 0 ? Exact(-1) : number(0) / number(1), width_);
    if (op == "rem") return low_bits_of(number(1) == 0 ? number(0) : number(0) % number(1), width_);
    if (op == "shr") return shift_right();
    if (op == "bfe") return extract();
    if (op == "mul" || op == "mad") return product_of_integers(op == "mad" ? operands_[2] : 0);
    if (op == "sad") return low_bits_of(magnitude(number(0) - number(1)) + number(2), width_);
    if (op == "mul24" || op == "mad24") return low_bits_of(product24() + (op == "mad24" ? number(2) : 0), 32);
    if (op == "bfind") return highest_bit();
    if (op == "szext") return extended();
    unknown();
  }

  static Exact magnitude(Exact value) { return value < 0 ? -value : value; }

  Bits saturated(const std::string& op) const {
    const Exact largest = (Exact(1) << 31) - 1;
    const Exact exact = op == "add"   ? number(0) + number(1)
                        : op == "sub" ? number(0) - number(1)
                        : op == "mad" ? (number(0) * number(1) >> 32) + number(2)
                                      : signed_low(product24(), 32) + number(2);
    return low_bits_of(std::clamp(exact, -largest - 1, largest), 32);
  }

  static Exact signed_low(Exact value, int width) {
    const Bits bits = low_bits_of(value, width);
    return (bits >> (width - 1) & 1) != 0 ? Exact(bits) - (Exact(1) << width) : Exact(bits);
  }

  Exact product24() const {
    const auto low24 = [&](std::size_t i) {
      return type_[0] == 's' ? signed_low(number(i), 24) : Exact(low_bits_of(number(i), 24));
    };
    return low24(0) * low24(1) >> (parts_[1] == "hi" ? 16 : 0);
  }

  Bits highest_bit() const {
    const bool negative = number(0) < 0;
    for (int i = width_ - 1; i >= 0; --i)
      if ((operands_[0] >> i & 1) != (negative ? 1u : 0u))
        return static_cast<Bits>(parts_[1] == "shiftamt" ? width_ - 1 - i : i);
    return 0xffffffffu;
  }

  Bits small_count(std::size_t i) const { return has("wrap") ? operands_[i] & 31 : std::min<Bits>(operands_[i], 32); }

  Bits extended() const {
    const int width = static_cast<int>(small_count(1));
    if (width == 0) return 0;
    return type_[0] == 's' ? low_bits_of(signed_low(number(0), width), 32) : low_bits(operands_[0], width);
  }

  Bits dot_product(const std::string& op) const {
    const bool signed_a = parts_[parts_.size() - 2] == "s32", signed_b = parts_.back() == "s32";
    const auto part = [](Bits word, int index, int width, bool is_signed) {
      const Bits bits = word >> (index * width) & ((Bits{1} << width) - 1);
      return is_signed ? signed_low(Exact(bits), width) : Exact(bits);
    };
    Exact exact = Exact(operands_[2]);
    if (op == "dp4a")
      for (int i = 0; i < 4; ++i) exact += part(operands_[0], i, 8, signed_a) * part(operands_[1], i, 8, signed_b);
    else
      for (int i = 0; i < 2; ++i)
        exact += part(operands_[0], i, 16, signed_a) * part(operands_[1], i + (parts_[1] == "hi" ? 2 : 0), 8, signed_b);
    return low_bits_of(exact, 32);
  }

  //! The carry is the digit beyond the register; of a subtraction, whether one had to be borrowed.
  Bits carried(const std::string& op) const {
    const bool reads = op.ends_with("c") && op.size() == 4;
    const Exact carry = reads && *carry_ ? 1 : 0;
    const auto plain = [&](std::size_t i) { return Exact(low_bits(operands_[i], width_)); };
    Exact exact = 0;
    if (op.starts_with("add"))
      exact = plain(0) + plain(1) + carry;
    else if (op.starts_with("sub"))
      exact = plain(0) - plain(1) - carry;
    else
      exact = Exact(parts_[1] == "hi" ? upper_half() : lower_half()) + plain(2) + carry;
    if (has("cc")) *carry_ = exact < 0 || exact >> width_ != 0;
    return low_bits_of(exact, width_);
  }

  //! Bit by bit, as the manual of PTX puts it.
  Bits extract() const {
    const int position = static_cast<int>(operands_[1] & 255), length = static_cast<int>(operands_[2] & 255);
    const int top = std::min(position + length - 1, width_ - 1);
    const Bits filler = type_[0] == 's' && length > 0 ? operands_[0] >> top & 1 : 0;
    Bits result = 0;
    for (int i = 0; i < width_; ++i)
      result |= (i < length && position + i < width_ ? operands_[0] >> (position + i) & 1 : filler) << i;
    return result;
  }

  Bits product_of_integers(Bits added) const {
    if (parts_[1] == "lo") return low_bits(lower_half() + added, width_);
    if (parts_[1] == "hi") return low_bits(upper_half() + added, width_);
    if (parts_[1] == "wide") return low_bits(low_bits_of(number(0) * number(1), 2 * width_) + added, 2 * width_);
    unknown();
  }

  Bits shift_right() const {
    const Bits count = low_bits(operands_[1], 32);
    Exact value = number(0);
    for (Bits i = 0; i < count && i < 64; ++i) value = (value - (value & 1)) / 2;
    return low_bits_of(value, width_);
  }

  Bits logic(const std::string& op) const {
    const Bits a = operands_[0], b = operands_.size() > 1 ? operands_[1] : 0;
    if (op == "and") return a & b;
    if (op == "or") return a | b;
    if (op == "xor") return a ^ b;
    if (op == "not") return low_bits(~a, width_);
    if (op == "shl") return low_bits(b, 32) < static_cast<Bits>(width_) ? low_bits(a << low_bits(b, 32), width_) : 0;
    if (op == "shr") return shift_right();
    if (op == "popc" || op == "clz" || op == "brev") return count_bits(op);
    if (op == "cnot") return a == 0 ? 1 : 0;
    if (op == "prmt") return permuted();
    if (op == "shf") return funnel_shifted();
    if (op == "bmsk") return mask_of_bits();
    if (op == "bfi") return inserted();
    if (op == "fns") return nth_bit();
    if (op == "lop3") return looked_up();
    unknown();
  }

  //! The tables of the manual, byte 3 first.
  static std::string selectors_of(const std::string& mode, Bits which) {
    if (mode == "f4e") return std::string("3210432154326543").substr(4 * which, 4);
    if (mode == "b4e") return std::string("5670670170120123").substr(4 * which, 4);
    if (mode == "rc8") return std::string("0000111122223333").substr(4 * which, 4);
    if (mode == "ecl") return std::string("3210321132223333").substr(4 * which, 4);
    if (mode == "ecr") return std::string("0000111022103210").substr(4 * which, 4);
    return std::string("1010323210103232").substr(4 * which, 4);
  }

  Bits permuted() const {
    Bits result = 0;
    for (int i = 0; i < 4; ++i) {
      const Bits selector = parts_.size() == 2
                                ? operands_[2] >> (4 * i) & 15
                                : static_cast<Bits>(selectors_of(parts_[2], operands_[2] & 3)[3 - i] - '0');
      const Bits from = (selector & 7) < 4 ? operands_[0] : operands_[1];
      const Bits byte = from >> (8 * (selector & 3)) & 255;
      result |= (selector < 8 ? byte : byte >= 128 ? 255 : 0) << (8 * i);
    }
    return result;
  }

  Bits funnel_shifted() const {
    const int count = static_cast<int>(small_count(2));
    Bits result = 0;
    for (int i = 0; i < 32; ++i) {
      const int from = parts_[1] == "l" ? 32 + i - count : i + count;
      result |= (from < 32 ? operands_[0] >> from & 1 : operands_[1] >> (from - 32) & 1) << i;
    }
    return result;
  }

  Bits mask_of_bits() const {
    Bits result = 0;
    for (Bits i = 0; i < 32; ++i)
      if (i >= small_count(0) && i < small_count(0) + small_count(1)) result |= Bits{1} << i;
    return result;
  }

  Bits inserted() const {
    const int position = static_cast<int>(operands_[2] & 255), length = static_cast<int>(operands_[3] & 255);
    Bits result = operands_[1];
    for (int i = 0; i < length && position + i < width_; ++i) {
      const Bits bit = Bits{1} << (position + i);
      result = (operands_[0] >> i & 1) != 0 ? result | bit : result & ~bit;
    }
    return result;
  }

  Bits nth_bit() const {
    const Bits base = operands_[1];
    const auto offset = static_cast<std::int32_t>(operands_[2]);
    if (base > 31) return 0xffffffffu;
    if (offset == 0) return (operands_[0] >> base & 1) != 0 ? base : 0xffffffffu;
    std::int64_t left = std::int64_t{offset} > 0 ? offset : -std::int64_t{offset};
    for (int at = static_cast<int>(base); at >= 0 && at<32; at += offset> 0 ? 1 : -1)
      if ((operands_[0] >> at & 1) != 0 && --left == 0) return static_cast<Bits>(at);
    return 0xffffffffu;
  }

  Bits looked_up() const {
    Bits result = 0;
    for (int i = 0; i < 32; ++i) {
      const Bits index = (operands_[0] >> i & 1) * 4 + (operands_[1] >> i & 1) * 2 + (operands_[2] >> i & 1);
      result |= (operands_[3] >> index & 1) << i;
    }
    return result;
  }

  Bits count_bits(const std::string& op) const {
    Bits ones = 0, leading = 0, reversed = 0;
    bool seen = false;
    for (int i = width_ - 1; i >= 0; --i) {
      const Bits bit = operands_[0] >> i & 1;
      ones += bit;
      seen = seen || bit != 0;
      leading += seen ? 0 : 1;
      reversed |= bit << (width_ - 1 - i);
    }
    return op == "popc" ? ones : op == "clz" ? leading : reversed;
  }

  // --- real numbers
  static Direction direction_of(const std::string& rounding) {
    if (rounding.starts_with("rna")) return Direction::nearest_away;
    if (rounding.starts_with("rz")) return Direction::to_zero;
    if (rounding.starts_with("rm")) return Direction::down;
    if (rounding.starts_with("rp")) return Direction::up;
    return Direction::nearest;
  }
  Direction direction() const { return parts_.size() > 2 ? direction_of(parts_[1]) : Direction::nearest; }

  static bool is_subnormal(Bits bits, const RealFormat& format) {
    const Bits magnitude = low_bits(bits, format.width() - 1);
    return magnitude != 0 && magnitude < Bits{1} << (format.fraction_bits + format.unused_bits);
  }
  static Bits sign_of(Bits bits, const RealFormat& format) { return bits & Bits{1} << (format.width() - 1); }
  Bits flushed(Bits bits, const RealFormat& format) const {
    return has("ftz") && is_subnormal(bits, format) ? sign_of(bits, format) : bits;
  }

  //! What .ftz, .sat and .relu make of a result.
  Bits finished(Bits bits, const RealFormat& format) const {
    bits = flushed(bits, format);
    const ExactReal value = real_of_bits(bits, format);
    const Bits one = bits_of_real(real_of_integer(false, 1), format, Direction::nearest);
    if (has("relu") && !value.is_nan() && value.negative) return 0;
    if (!has("sat")) return bits;
    if (value.is_nan() || value.negative) return 0;
    return std::min(bits, one);  // bits of positive numbers grow with them
  }

  Bits real(const std::string& op) const {
    const RealFormat format = format_of(type_);
    std::vector<Bits> bits;
    std::vector<ExactReal> values;
    for (const Bits operand : operands_) {
      bits.push_back(flushed(operand, format));
      values.push_back(real_of_bits(bits.back(), format));
    }
    const Bits sign = Bits{1} << (width_ - 1);
    if (op == "neg") return bits[0] ^ sign;
    if (op == "abs") return bits[0] & ~sign;
    if (op == "copysign") return (bits[1] & ~sign) | (bits[0] & sign);
    if (op == "min" || op == "max") return flushed(extreme(bits, values, op == "min", format), format);
    return finished(bits_of_real(computed(op, values), format, direction()), format);
  }

  ExactReal computed(const std::string& op, const std::vector<ExactReal>& values) const {
    const Direction how = direction();
    ExactReal second = values.size() > 1 ? values[1] : ExactReal{};
    if (op == "add") return sum(values[0], second, how);
    if (op == "mul") return product(values[0], second);
    if (op == "fma" || op == "mad") return sum(product(values[0], second), values[2], how);
    if (op == "sqrt") return square_root(values[0]);
    if (op == "rcp") return quotient(real_of_integer(false, 1), values[0]);
    if (op == "div")
      return has("approx") && reciprocal_is_lost() ? product(values[0], zero_like(second))
                                                   : quotient(values[0], second);
    if (op == "sub") {
      second.negative = !second.negative;
      return sum(values[0], second, how);
    }
    return approximated(op);
  }

  //! Documented for div.approx: divisors beyond 2^126 give zero, or NaN for an infinite dividend.
  bool reciprocal_is_lost() const {
    const Bits magnitude = operands_[1] & 0x7fffffffu;
    return magnitude > 0x7e800000u && magnitude < 0x7f800000u;
  }
  static ExactReal zero_like(const ExactReal& value) { return {ExactReal::Kind::number, value.negative, {}, 0}; }

  //! A double is not the exact value, but much nearer to it than these instructions promise.
  ExactReal approximated(const std::string& op) const {
    const double a = as_double(flushed(operands_[0], format_of(type_)), type_);
    if (op == "rsqrt") return exactly(1 / std::sqrt(a));
    if (op == "ex2") return exactly(std::exp2(a));
    if (op == "lg2") return exactly(std::log2(a));
    if (op == "sin") return exactly(sine_of_turns(turns(), a));
    if (op == "cos") return exactly(cosine_of_turns(turns()));
    if (op == "tanh") return exactly(std::tanh(a));
    unknown();
  }
  //! The angle over 2 pi, both in fp32, toward zero.
  double turns() const {
    const RealFormat format = format_of("f32");
    constexpr Bits turns_per_radian = 0x3e22f983;
    const ExactReal exact =
        product(real_of_bits(flushed(operands_[0], format), format), real_of_bits(turns_per_radian, format));
    return as_double(bits_of_real(exact, format, Direction::to_zero), "f32");
  }
  static double sine_of_turns(double turns, double sign) {
    const double part = std::fmod(std::fabs(turns), 1.0);
    if (part == 0.0 || part == 0.5) return std::copysign(0.0, sign);
    return static_cast<double>(std::copysign(1.0L, turns) * std::sin(2 * std::numbers::pi_v<long double> * part));
  }
  static double cosine_of_turns(double turns) {
    const double part = std::fmod(std::fabs(turns), 1.0);
    if (part == 0.25 || part == 0.75) return 0.0;
    return static_cast<double>(std::cos(2 * std::numbers::pi_v<long double> * part));
  }
  static ExactReal exactly(double value) { return real_of_bits(std::bit_cast<Bits>(value), format_of("f64")); }
  static double as_double(Bits bits, const std::string& type) {
    return std::bit_cast<double>(
        bits_of_real(real_of_bits(bits, format_of(type)), format_of("f64"), Direction::nearest));
  }

  Bits extreme(const std::vector<Bits>& bits, const std::vector<ExactReal>& values, bool smaller,
               const RealFormat& format) const {
    const Bits sign = Bits{1} << (format.width() - 1), nan = sign - 1;
    const bool by_magnitude = has("xorsign");
    const auto key = [&](std::size_t i) {  // bits that grow with the numbers they stand for
      const Bits magnitude = bits[i] & ~sign;
      return by_magnitude || (bits[i] & sign) == 0 ? static_cast<Exact>(magnitude) : -static_cast<Exact>(magnitude) - 1;
    };
    const bool first_nan = values[0].is_nan(), second_nan = values[1].is_nan();
    if ((first_nan && second_nan) || (has("NaN") && (first_nan || second_nan))) return nan;
    const std::size_t winner = first_nan ? 1 : second_nan ? 0 : (key(0) < key(1)) == smaller ? 0 : 1;
    if (!by_magnitude) return bits[winner];
    return (bits[winner] & ~sign) | ((bits[0] ^ bits[1]) & sign);
  }

  Bits classify() const {
    const RealFormat format = format_of(type_);
    const ExactReal value = real_of_bits(operands_[0], format);
    const bool finite = value.kind == ExactReal::Kind::number;
    const std::string& what = parts_[1];
    if (what == "finite") return finite;
    if (what == "infinite") return value.kind == ExactReal::Kind::infinite;
    if (what == "number") return !value.is_nan();
    if (what == "notanumber") return value.is_nan();
    if (what == "normal") return finite && !value.is_zero() && !is_subnormal(operands_[0], format);
    if (what == "subnormal") return is_subnormal(operands_[0], format);
    unknown();
  }

  // --- conversions
  Bits convert() const {
    const std::string& to = parts_[parts_.size() - 2];
    if (to[0] == 'e') return to_bytes(to);
    if (type_[0] == 'e') return from_bytes();
    if (is_pair(to)) {
      const std::string single = to.substr(0, to.size() - 2);
      return converted(operands_[0], single) << 16 | converted(operands_[1], single);
    }
    return converted(operands_[0], to);
  }

  Bits converted(Bits operand, const std::string& to) const {
    ExactReal value;
    if (is_real(type_)) {
      value = real_of_bits(type_ == "f32" ? flushed(operand, format_of(type_)) : operand, format_of(type_));
    } else {
      const Exact exact = number(0);
      value = real_of_integer(exact < 0, static_cast<Bits>(exact < 0 ? -exact : exact));
    }
    const std::string rounding = parts_[1][0] == 'r' && parts_.size() > 3 ? parts_[1] : "rn";
    if (rounding.ends_with("i")) value = integral(value, direction_of(rounding));
    if (!is_real(to)) return integer_result(value, to);
    const RealFormat format = format_of(to);
    Bits bits = bits_of_real(value, format, direction_of(rounding));
    if (to != "f32" && is_subnormal(bits, format))
      return has("relu") || has("sat") ? (value.negative ? 0 : bits) : bits;
    return finished(bits, format);
  }

  Bits integer_result(const ExactReal& value, const std::string& to) const {
    const int width = std::stoi(to.substr(1)), held = std::max(width, 16);
    const Exact largest = (Exact(1) << (to[0] == 's' ? width - 1 : width)) - 1;
    const Exact smallest = to[0] == 's' ? -largest - 1 : Exact(0);
    if (value.is_nan()) return 0;
    const bool huge = value.kind == ExactReal::Kind::infinite || value.magnitude.bit_length() + value.exponent > 64;
    const Exact beyond = Exact(1) << 100;
    const Exact size = huge ? beyond : Exact(value.magnitude.shifted_left(std::max(value.exponent, 0)).low_bits());
    Exact exact = value.negative ? -size : size;
    if (is_real(type_) || has("sat")) exact = std::clamp(exact, smallest, largest);
    // Integers are cut off, and what is left is extended to the register.
    Bits bits = low_bits_of(exact, width);
    if (to[0] == 's' && (bits >> (width - 1) & 1) != 0) bits = low_bits_of(Exact(bits) - (Exact(1) << width), held);
    return bits;
  }

  //! The number that a byte of fp8 stands for, by the definition of the format.
  static double byte_value(Bits byte, bool e4m3) {
    const int fraction_bits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    const int exponent = static_cast<int>((byte & 0x7f) >> fraction_bits), one = 1 << fraction_bits;
    const int fraction = static_cast<int>(byte) & (one - 1);
    const double digits = (exponent == 0 ? fraction : one + fraction) / static_cast<double>(one);
    const double magnitude = std::ldexp(digits, std::max(exponent, 1) - bias);
    if (e4m3 ? (byte & 0x7f) == 0x7f : exponent == 31 && fraction != 0) return std::numeric_limits<double>::quiet_NaN();
    if (!e4m3 && exponent == 31) return (byte & 0x80) != 0 ? -HUGE_VAL : HUGE_VAL;
    return (byte & 0x80) != 0 ? -magnitude : magnitude;
  }

  //! Of all finite bytes the nearest, and of two equally near ones the even one.
  Bits nearest_byte(double value, bool e4m3) const {
    if (std::isnan(value)) return 0x7f;
    if (std::signbit(value) && has("relu")) return 0;
    const Bits sign = std::signbit(value) ? 0x80 : 0, last = e4m3 ? 0x7e : 0x7b;
    const double size = std::min(std::fabs(value), byte_value(last, e4m3));
    Bits best = 0;
    for (Bits byte = 1; byte <= last; ++byte) {
      const double old_distance = std::fabs(byte_value(best, e4m3) - size),
                   distance = std::fabs(byte_value(byte, e4m3) - size);
      if (distance < old_distance || (distance == old_distance && byte % 2 == 0)) best = byte;
    }
    return sign | best;
  }

  Bits to_bytes(const std::string& to) const {
    const bool e4m3 = to.starts_with("e4m3");
    if (type_ == "f16x2")
      return nearest_byte(as_double(operands_[0] >> 16, "f16"), e4m3) << 8 |
             nearest_byte(as_double(operands_[0] & 0xffff, "f16"), e4m3);
    return nearest_byte(as_double(operands_[0], "f32"), e4m3) << 8 | nearest_byte(as_double(operands_[1], "f32"), e4m3);
  }

  Bits from_bytes() const {
    const auto half = [&](Bits byte) -> Bits {
      const double value = byte_value(byte, type_.starts_with("e4m3"));
      if (has("relu") && std::signbit(value) && !std::isnan(value)) return 0;
      return bits_of_real(exactly(value), format_of("f16"), Direction::nearest);
    };
    return half(operands_[0] >> 8 & 0xff) << 16 | half(operands_[0] & 0xff);
  }

  // --- comparisons
  bool holds() const {
    if (!is_real(type_)) return compare_as(number(0), number(1));
    const bool flushes = type_ == "f32" || type_ == "f16";
    const auto value = [&](std::size_t i) {
      return as_double(flushes ? flushed(operands_[i], format_of(type_)) : operands_[i], type_);
    };
    return compare_as(value(0), value(1));
  }

  //! setp of two numbers gives the lower one's; the other is asked for with the halves exchanged.
  Bits compare() const {
    if (is_pair(type_)) {
      std::vector<Bits> low = operands_;
      low[0] &= 0xffff;
      low[1] &= 0xffff;
      return evaluate_in_one_lane(name_.substr(0, name_.size() - 2), low);
    }
    if (!has("and") && !has("or") && !has("xor")) return holds() ? 1 : 0;
    const bool other = operands_[2] != 0;
    if (has("and")) return holds() && other ? 1 : 0;
    return (has("or") ? holds() || other : holds() != other) ? 1 : 0;
  }

  Bits set() const {
    const std::string& to = parts_[parts_.size() - 2];
    if (is_pair(type_)) {
      const std::string single = type_.substr(0, type_.size() - 2);
      const std::string name = "set." + parts_[1] + (has("ftz") ? ".ftz." : ".") + single + "." + single;
      return evaluate_in_one_lane(name, {operands_[0] & 0xffff, operands_[1] & 0xffff}) |
             evaluate_in_one_lane(name, {operands_[0] >> 16, operands_[1] >> 16}) << 16;
    }
    if (!holds()) return 0;
    return is_real(to) ? bits_of_real(real_of_integer(false, 1), format_of(to), Direction::nearest) : 0xffffffffu;
  }

  template <class T>
  bool compare_as(T a, T b) const {
    std::string how = parts_[1];
    const bool has_nan = a != a || b != b;
    if (how == "nan") return has_nan;
    if (how == "num") return !has_nan;
    if (how.size() == 3) {
      if (has_nan) return true;
      how.pop_back();
    }
    if (has_nan) return false;
    if (how == "eq") return a == b;
    if (how == "ne") return a != b;
    if (how == "lt" || how == "lo") return a < b;
    if (how == "le" || how == "ls") return a <= b;
    if (how == "gt" || how == "hi") return a > b;
    if (how == "ge" || how == "hs") return a >= b;
    unknown();
  }

  std::string name_;
  std::vector<Bits> operands_;
  bool* carry_;
  std::vector<std::string> parts_;
  std::string type_;
  int width_ = 0;
};

}  // namespace

std::uint64_t evaluate_in_one_lane(const std::string& full_opcode, const std::vector<std::uint64_t>& operands,
                                   bool* carry) {
  return Lane(full_opcode, operands, carry).run();
}

std::uint64_t second_predicate_in_one_lane(const std::string& full_opcode, std::vector<std::uint64_t> operands) {
  if (!full_opcode.ends_with("x2")) return 1 - evaluate_in_one_lane(full_opcode, operands);
  operands[0] >>= 16;
  operands[1] >>= 16;
  return evaluate_in_one_lane(full_opcode, operands);
}

}  // namespace cudal1::vgpu
