#include "program/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "program/nearest_name.hpp"
#include "program/rejection.hpp"

namespace cudal1 {
namespace {

constexpr int deepest_nesting = 200;  // a bound on our own stack
constexpr __int128 least_integer = std::numeric_limits<std::int64_t>::min();
constexpr __int128 largest_integer = std::numeric_limits<std::uint64_t>::max();

std::string integer_text(__int128 value) {
  return value < 0 ? fmt::format("{}", static_cast<std::int64_t>(value))
                   : fmt::format("{}", static_cast<std::uint64_t>(value));
}

ExpressionValue integer_value(__int128 value, bool overflowed, SourcePosition at) {
  if (overflowed || value < least_integer || value > largest_integer)
    reject(Status::plan_error, at, "the number does not fit 64 bits");
  return {false, value, 0.0, at};
}

ExpressionValue real_value(double value, SourcePosition at) {
  if (!std::isfinite(value)) reject(Status::plan_error, at, "the number is too large for a double");
  return {true, 0, value, at};
}

void refuse_zero_divisor(const ExpressionValue& divisor) {
  if (divisor.is_real ? divisor.real == 0.0 : divisor.integer == 0)
    reject(Status::plan_error, divisor.at, "division by zero");
}

void require_integers(std::string_view what, const ExpressionValue& left, const ExpressionValue& right) {
  if (left.is_real || right.is_real)
    reject(Status::plan_error, (left.is_real ? left : right).at, fmt::format("{} takes integers only", what));
}

ExpressionValue apply_to_integers(char operation, __int128 a, __int128 b, SourcePosition at) {
  __int128 result = 0;
  bool overflowed = false;
  switch (operation) {
    case '+':
      result = a + b;
      break;
    case '-':
      result = a - b;
      break;
    case '*':
      overflowed = __builtin_mul_overflow(a, b, &result);
      break;
    case '/':
      result = a / b;
      break;
    default:
      result = a % b;
      break;
  }
  return integer_value(result, overflowed, at);
}

ExpressionValue apply_to_reals(char operation, double a, double b, SourcePosition at) {
  switch (operation) {
    case '+':
      return real_value(a + b, at);
    case '-':
      return real_value(a - b, at);
    case '*':
      return real_value(a * b, at);
    default:
      return real_value(a / b, at);
  }
}

//! Not `0 - value`, which would lose the sign of a zero.
ExpressionValue negated(const ExpressionValue& value, SourcePosition at) {
  return value.is_real ? real_value(-value.real, at) : integer_value(-value.integer, false, at);
}

ExpressionValue ceil_div(const ExpressionValue& a, const ExpressionValue& b, SourcePosition at) {
  require_integers("ceil_div", a, b);
  refuse_zero_divisor(b);
  const bool rounds_up = a.integer % b.integer != 0 && (a.integer < 0) == (b.integer < 0);
  return integer_value(a.integer / b.integer + (rounds_up ? 1 : 0), false, at);
}

bool less(const ExpressionValue& a, const ExpressionValue& b) {
  return a.is_real || b.is_real ? a.as_real() < b.as_real() : a.integer < b.integer;
}

std::optional<ExpressionValue> parse_integer(const DirectiveToken& token) {
  std::string_view digits = token.text;
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (hexadecimal) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, hexadecimal ? 16 : 10);
  if (error == std::errc::result_out_of_range && stop == end)
    reject(Status::plan_error, token.at, "the number does not fit 64 bits");
  if (error != std::errc() || stop != end) return std::nullopt;
  return ExpressionValue{false, static_cast<__int128>(value), 0.0, token.at};
}

std::optional<ExpressionValue> parse_real(const DirectiveToken& token) {
  std::string_view digits = token.text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) return std::nullopt;
  if (digits.ends_with('f') || digits.ends_with('F')) digits.remove_suffix(1);
  double value = 0.0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end)
    reject(Status::plan_error, token.at, "the number is beyond the range of a double");
  if (error != std::errc() || stop != end) return std::nullopt;
  return ExpressionValue{true, 0, value, token.at};
}

std::int64_t dimension_of(const TensorTerm& tensor, const ExpressionValue& index) {
  const __int128 rank = static_cast<__int128>(tensor.meta.sizes.size());
  if (index.is_real || index.integer >= rank || index.integer < -rank)
    reject(Status::plan_error, index.at,
           fmt::format("{} has {} dimensions ({}); there is no dimension {}", quoted(tensor.name),
                       tensor.meta.sizes.size(), to_string(tensor.meta),
                       index.is_real ? fmt::format("{}", index.real) : integer_text(index.integer)));
  return static_cast<std::int64_t>(index.integer < 0 ? index.integer + rank : index.integer);
}

}  // namespace

ExpressionValue ExpressionReader::read() {
  const SourcePosition at = cursor_.peek().at;
  ExpressionValue value = read_sum(std::nullopt);
  value.at = at;
  return value;
}

ExpressionValue ExpressionReader::read_sum(std::optional<ExpressionValue> left) {
  ExpressionValue value = read_product(left);
  while (cursor_.peek().is("+") || cursor_.peek().is("-")) {
    const DirectiveToken operation = cursor_.next();
    value = apply(operation.text[0], value, read_product(std::nullopt), operation.at);
  }
  return value;
}

ExpressionValue ExpressionReader::read_product(std::optional<ExpressionValue> left) {
  ExpressionValue value = left ? *left : read_factor();
  while (cursor_.peek().is("*") || cursor_.peek().is("/") || cursor_.peek().is("%")) {
    const DirectiveToken operation = cursor_.next();
    value = apply(operation.text[0], value, read_factor(), operation.at);
  }
  return value;
}

ExpressionValue ExpressionReader::read_factor() {
  if (++depth_ > deepest_nesting)
    reject(Status::parse_error, cursor_.peek().at,
           fmt::format("the expression is nested more than {} levels deep", deepest_nesting));
  const ExpressionValue value = read_nested();
  --depth_;
  return value;
}

ExpressionValue ExpressionReader::read_nested() {
  const DirectiveToken& token = cursor_.peek();
  const SourcePosition at = token.at;
  if (cursor_.accept("-")) return negated(read_factor(), at);
  if (cursor_.accept("+")) return read_factor();
  if (cursor_.accept("(")) {
    const ExpressionValue inner = read();
    cursor_.expect(")", "the expression");
    return inner;
  }
  if (token.kind == DirectiveTokenKind::number) return read_number();
  if (token.is_word() && cursor_.peek(1).is("(")) return read_function();
  if (token.is_word() || token.kind == DirectiveTokenKind::quoted) return read_of_tensor();
  reject(Status::parse_error, at, fmt::format("expected a number or an expression, found {}", shown(token)));
}

ExpressionValue ExpressionReader::read_number() {
  const DirectiveToken token = cursor_.next();
  if (const auto integer = parse_integer(token)) return *integer;
  const auto real = parse_real(token);
  if (!real) reject(Status::parse_error, token.at, fmt::format("{} is not a number", shown(token)));
  if (!reals_)
    reject(Status::parse_error, token.at,
           fmt::format("{} is a fraction; those are allowed in f32: and f64: arguments only", shown(token)));
  return *real;
}

ExpressionValue ExpressionReader::read_function() {
  const DirectiveToken name = cursor_.next();
  cursor_.expect("(", "the function's name");
  if (name.text == "numel") {
    const TensorTerm tensor = scope_.read_tensor(cursor_);
    cursor_.expect(")", "the tensor's name");
    return integer_value(tensor.meta.numel(), false, name.at);
  }
  static const std::vector<std::string> functions = {"numel", "ceil_div", "min", "max"};
  if (std::find(functions.begin(), functions.end(), name.text) == functions.end())
    reject(Status::parse_error, name.at,
           fmt::format("there is no function {}; there are numel(t), ceil_div(a, b), min(a, b…), max(a, b…)",
                       shown(name)));
  std::vector<ExpressionValue> arguments;
  do arguments.push_back(read());
  while (cursor_.accept(","));
  cursor_.expect(")", "the function's arguments");
  return call(name.text, arguments, name.at);
}

ExpressionValue ExpressionReader::call(std::string_view function, const std::vector<ExpressionValue>& arguments,
                                       SourcePosition at) {
  if (arguments.size() < 2 || (function == "ceil_div" && arguments.size() != 2))
    reject(Status::parse_error, at,
           fmt::format("{} takes {} arguments, not {}", function, function == "ceil_div" ? "two" : "two or more",
                       arguments.size()));
  if (function == "ceil_div") return ceil_div(arguments[0], arguments[1], at);
  ExpressionValue best = arguments[0];
  for (const ExpressionValue& candidate : arguments) {
    if (function == "min" ? less(candidate, best) : less(best, candidate)) best = candidate;
  }
  best.at = at;
  return best;
}

ExpressionValue ExpressionReader::read_of_tensor() {
  const SourcePosition at = cursor_.peek().at;
  const TensorTerm tensor = scope_.read_tensor(cursor_);
  if (!cursor_.accept("."))
    reject(Status::parse_error, at,
           fmt::format("{} is a tensor, not a number: write its .size(i), its .stride(i) or numel(…) of it",
                       quoted(tensor.name)));
  const DirectiveToken member = cursor_.next();
  if (member.text != "size" && member.text != "stride")
    reject(Status::parse_error, member.at, fmt::format("a tensor has size(i) and stride(i), not {}", shown(member)));
  cursor_.expect("(", "size or stride");
  const std::int64_t dimension = dimension_of(tensor, read());
  cursor_.expect(")", "the dimension");
  const auto& numbers = member.text == "size" ? tensor.meta.sizes : tensor.meta.strides;
  return integer_value(numbers.at(dimension), false, at);
}

ExpressionValue ExpressionReader::apply(char operation, const ExpressionValue& left, const ExpressionValue& right,
                                        SourcePosition at) {
  if (operation == '/' || operation == '%') refuse_zero_divisor(right);
  if (operation == '%') require_integers("%", left, right);
  const bool real = left.is_real || right.is_real || (reals_ && operation == '/');
  ExpressionValue value = real ? apply_to_reals(operation, left.as_real(), right.as_real(), at)
                               : apply_to_integers(operation, left.integer, right.integer, at);
  value.at = left.at;
  return value;
}

std::int64_t read_integer(TokenCursor& cursor, const TensorScope& scope) {
  const ExpressionValue value = ExpressionReader(cursor, scope, ExpressionReader::Numbers::integers).read();
  if (value.integer > std::numeric_limits<std::int64_t>::max())
    reject(Status::plan_error, value.at, fmt::format("{} does not fit 63 bits", integer_text(value.integer)));
  return static_cast<std::int64_t>(value.integer);
}

bool is_scalar_type(std::string_view name) {
  return name == "i32" || name == "u32" || name == "i64" || name == "u64" || name == "f32" || name == "f64";
}

namespace {

template <class Integer>
std::uint64_t integer_bits(const ExpressionValue& value, std::string_view type) {
  if (value.integer < std::numeric_limits<Integer>::min() || value.integer > std::numeric_limits<Integer>::max())
    reject(Status::plan_error, value.at, fmt::format("{} does not fit {}", integer_text(value.integer), type));
  return static_cast<std::make_unsigned_t<Integer>>(static_cast<Integer>(value.integer));
}

std::uint64_t f32_bits(const ExpressionValue& value) {
  if (std::abs(value.as_real()) > std::numeric_limits<float>::max())
    reject(Status::plan_error, value.at, fmt::format("{} does not fit f32", value.as_real()));
  return std::bit_cast<std::uint32_t>(static_cast<float>(value.as_real()));
}

}  // namespace

ScalarArgument read_scalar(TokenCursor& cursor, const TensorScope& scope, std::string_view type) {
  const bool real = type == "f32" || type == "f64";
  using Numbers = ExpressionReader::Numbers;
  const ExpressionValue value = ExpressionReader(cursor, scope, real ? Numbers::reals : Numbers::integers).read();
  ScalarArgument scalar{std::string(type), 0, type.ends_with("64") ? 8 : 4};
  if (type == "i32") scalar.bits = integer_bits<std::int32_t>(value, type);
  if (type == "u32") scalar.bits = integer_bits<std::uint32_t>(value, type);
  if (type == "i64") scalar.bits = integer_bits<std::int64_t>(value, type);
  if (type == "u64") scalar.bits = integer_bits<std::uint64_t>(value, type);
  if (type == "f32") scalar.bits = f32_bits(value);
  if (type == "f64") scalar.bits = std::bit_cast<std::uint64_t>(value.as_real());
  return scalar;
}

}  // namespace cudal1
