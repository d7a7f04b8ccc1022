#include "scalar_oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

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

class Lane {
 public:
  Lane(const std::string& name, const std::vector<Bits>& operands) : name_(name), operands_(operands) {
    parts_ = parts_of(name);
    type_ = parts_.back();
    width_ = type_ == "pred" ? 1 : std::stoi(type_.substr(type_.find_first_of("0123456789")));
  }

  Bits run() const {
    const std::string& op = parts_[0];
    if (op == "mov") return operands_[0];
    if (op == "selp") return operands_[2] != 0 ? operands_[0] : operands_[1];
    if (op == "setp") return compare();
    if (op == "cvt") return convert();
    if (type_ == "pred" || type_[0] == 'b') return logic(op);
    return type_[0] == 'f' ? real(op) : integer(op);
  }

 private:
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
    if (op == "mul" || op == "mad") return product(op == "mad" ? operands_[2] : 0);
    unknown();
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

  Bits product(Bits added) const {
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
    unknown();
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

  template <class T>
  static T real_of(Bits bits) {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    else
      return std::bit_cast<double>(bits);
  }
  template <class T>
  static Bits bits_of(T value) {
    if constexpr (sizeof(T) == 4)
      return std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value);
    else
      return std::bit_cast<Bits>(value);
  }

  Bits half(const std::string& op) const {
    const long double a = small_real(operands_[0], 5, 10), b = small_real(operands_[1], 5, 10);
    if (op == "add") return nearest_small_real(a + b, 5, 10);
    if (op == "sub") return nearest_small_real(a - b, 5, 10);
    if (op == "mul") return nearest_small_real(a * b, 5, 10);
    unknown();
  }

  Bits real(const std::string& op) const {
    if (width_ == 16) return half(op);
    return width_ == 32 ? real_as<float>(op) : real_as<double>(op);
  }

  template <class T>
  Bits real_as(const std::string& op) const {
    const T a = real_of<T>(operands_[0]), b = real_of<T>(operands_.size() > 1 ? operands_[1] : 0);
    const Bits sign = Bits{1} << (width_ - 1);
    if (op == "neg") return operands_[0] ^ sign;
    if (op == "abs") return operands_[0] & ~sign;
    if (op == "add") return bits_of(static_cast<T>(a + b));
    if (op == "sub") return bits_of(static_cast<T>(a - b));
    if (op == "mul") return bits_of(static_cast<T>(a * b));
    if (op == "div") return bits_of(static_cast<T>(a / b));
    if (op == "fma") return bits_of(static_cast<T>(std::fma(a, b, real_of<T>(operands_[2]))));
    if (op == "sqrt") return bits_of(static_cast<T>(std::sqrt(a)));
    if (op == "rcp") return bits_of(static_cast<T>(1 / a));
    if (op == "rsqrt") return bits_of(static_cast<T>(1 / std::sqrt(static_cast<long double>(a))));
    if (op == "ex2") return bits_of(static_cast<T>(std::exp2(static_cast<long double>(a))));
    if (op == "lg2") return bits_of(static_cast<T>(std::log2(static_cast<long double>(a))));
    if (op == "sin") return bits_of(static_cast<T>(std::sin(static_cast<long double>(a))));
    if (op == "cos") return bits_of(static_cast<T>(std::cos(static_cast<long double>(a))));
    if (op == "tanh") return bits_of(static_cast<T>(std::tanh(static_cast<long double>(a))));
    if (parts_[1] == "NaN" && (std::isnan(a) || std::isnan(b))) return bits_of(std::numeric_limits<T>::quiet_NaN());
    if (op == "min" || op == "max") return bits_of(extreme(a, b, op == "min"));
    unknown();
  }

  template <class T>
  static T extreme(T a, T b, bool smaller) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == 0 && b == 0) return std::signbit(a) == smaller ? a : b;
    return (a < b) == smaller ? a : b;
  }

  static bool is_real(const std::string& type) { return type[0] == 'f' || type[0] == 'b'; }

  //! The operand of a conversion: every type but the 64-bit integers fits a long double, and those do on the host.
  long double operand_value() const {
    if (type_ == "f32") return real_of<float>(operands_[0]);
    if (type_ == "f64") return real_of<double>(operands_[0]);
    if (type_ == "f16") return small_real(operands_[0], 5, 10);
    if (type_ == "bf16") return small_real(operands_[0], 8, 7);
    return static_cast<long double>(number(0));
  }

  //! By the definition of the format.
  static long double small_real(Bits bits, int exponent_bits, int fraction_bits) {
    const Bits fraction = bits & ((Bits{1} << fraction_bits) - 1);
    const int exponent = static_cast<int>(bits >> fraction_bits & ((Bits{1} << exponent_bits) - 1));
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const long double sign = (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -1.0L : 1.0L;
    if (exponent == (1 << exponent_bits) - 1)
      return fraction != 0 ? std::numeric_limits<long double>::quiet_NaN()
                           : sign * std::numeric_limits<long double>::infinity();
    const long double significand =
        static_cast<long double>(fraction) / static_cast<long double>(Bits{1} << fraction_bits);
    return exponent == 0 ? sign * std::ldexp(significand, 1 - bias)
                         : sign * std::ldexp(1.0L + significand, exponent - bias);
  }

  //! Of all numbers of the format the nearest, and of two equally near ones the even one.
  static Bits nearest_small_real(long double value, int exponent_bits, int fraction_bits) {
    if (std::isnan(value)) return 0x7fff;
    const Bits sign = std::signbit(value) ? 0x8000 : 0, infinity = ((Bits{1} << exponent_bits) - 1) << fraction_bits;
    const long double magnitude = std::fabs(value);
    Bits low = 0, high = infinity;  // bits of positive numbers grow with them
    while (high - low > 1) {
      const Bits middle = (low + high) / 2;
      (small_real(middle, exponent_bits, fraction_bits) <= magnitude ? low : high) = middle;
    }
    const long double below = small_real(low, exponent_bits, fraction_bits);
    const long double step = below - small_real(low - (low > 0 ? 1 : 0), exponent_bits, fraction_bits);
    const long double above =
        high == infinity ? below + step : small_real(high, exponent_bits, fraction_bits);  // where it would go on
    const bool up = magnitude - below > above - magnitude || (magnitude - below == above - magnitude && (low & 1) != 0);
    return sign | (magnitude == std::numeric_limits<long double>::infinity() || up ? high : low);
  }

  Bits convert() const {
    const std::string rounding = parts_.size() == 4 ? parts_[1] : "", to = parts_[parts_.size() - 2];
    if (to == "f16") return nearest_small_real(operand_value(), 5, 10);
    if (to == "bf16") return nearest_small_real(operand_value(), 8, 7);
    long double value = operand_value();
    if (rounding == "rni") value = std::nearbyint(value);
    if (rounding == "rzi") value = std::trunc(value);
    if (rounding == "rmi") value = std::floor(value);
    if (rounding == "rpi") value = std::ceil(value);
    if (to == "f32") return bits_of(static_cast<float>(value));
    if (to == "f64") return bits_of(static_cast<double>(value));
    return integer_result(value, to);
  }

  Bits integer_result(long double value, const std::string& to) const {
    const int width = std::stoi(to.substr(1)), held = std::max(width, 16);
    const Exact largest = (Exact(1) << (to[0] == 's' ? width - 1 : width)) - 1;
    const Exact smallest = to[0] == 's' ? -largest - 1 : Exact(0);
    Exact exact = number_for(value);
    if (is_real(type_))
      exact = std::isnan(value)                            ? 0
              : value > static_cast<long double>(largest)  ? largest
              : value < static_cast<long double>(smallest) ? smallest
                                                           : exact;
    // Integers are cut off, and what is left is extended to the register.
    Bits bits = low_bits_of(exact, width);
    if (to[0] == 's' && (bits >> (width - 1) & 1) != 0) bits = low_bits_of(Exact(bits) - (Exact(1) << width), held);
    return bits;
  }

  Exact number_for(long double value) const {
    if (!is_real(type_)) return number(0);
    return std::isfinite(value) && std::fabs(value) < 0x1p100L ? static_cast<Exact>(value) : Exact(0);
  }

  Bits compare() const {
    const bool holds = type_ == "f32"   ? compare_as(real_of<float>(operands_[0]), real_of<float>(operands_[1]))
                       : type_ == "f64" ? compare_as(real_of<double>(operands_[0]), real_of<double>(operands_[1]))
                                        : compare_as(number(0), number(1));
    if (parts_.size() == 3) return holds ? 1 : 0;
    const bool other = operands_[2] != 0;
    if (parts_[2] == "and") return holds && other ? 1 : 0;
    if (parts_[2] == "or") return holds || other ? 1 : 0;
    if (parts_[2] == "xor") return holds != other ? 1 : 0;
    unknown();
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
  std::vector<std::string> parts_;
  std::string type_;
  int width_ = 0;
};

}  // namespace

std::uint64_t evaluate_in_one_lane(const std::string& full_opcode, const std::vector<std::uint64_t>& operands) {
  return Lane(full_opcode, operands).run();
}

}  // namespace cudal1::vgpu
