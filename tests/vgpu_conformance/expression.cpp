#include "expression.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/result.hpp"

namespace cudal1::conformance {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Evaluator {
 public:
  Evaluator(std::string_view text, const Values& values) : text_(text), values_(values) {}

  std::int64_t run() {
    const std::int64_t result = sum();
    if (!rest().empty()) throw Error(fmt::format("'{}' is not expected in '{}'", rest(), text_));
    return result;
  }

 private:
  std::string_view rest() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return text_.substr(at_);
  }

  char take_one_of(std::string_view choices) {
    const std::string_view left = rest();
    if (left.empty() || choices.find(left.front()) == std::string_view::npos) return 0;
    return text_[at_++];
  }

  std::int64_t sum() {
    std::int64_t value = product();
    while (const char sign = take_one_of("+-")) {
      const std::int64_t other = product();
      value = sign == '+' ? value + other : value - other;
    }
    return value;
  }

  std::int64_t product() {
    std::int64_t value = factor();
    while (const char sign = take_one_of("*/%")) {
      const std::int64_t other = factor();
      if (sign != '*' && other == 0) throw Error(fmt::format("division by zero in '{}'", text_));
      value = sign == '*' ? value * other : sign == '/' ? value / other : value % other;
    }
    return value;
  }

  std::int64_t factor() {
    if (take_one_of("-")) return -factor();
    if (!take_one_of("(")) return word();
    const std::int64_t value = sum();
    if (!take_one_of(")")) throw Error(fmt::format("')' is missing in '{}'", text_));
    return value;
  }

  std::int64_t word() {
    const std::string_view left = rest();
    std::size_t length = 0;
    while (length < left.size() && is_word(left[length])) ++length;
    if (length == 0) throw Error(fmt::format("a number or a name is missing in '{}'", text_));
    at_ += length;
    const std::string name(left.substr(0, length));
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    if (name.find_first_not_of("0123456789") != std::string::npos || name.size() > 18)
      throw Error(fmt::format("'{}' is no number and not defined", name));
    return std::stoll(name);
  }

  std::string_view text_;
  const Values& values_;
  std::size_t at_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view expression, const Values& values) { return Evaluator(expression, values).run(); }

}  // namespace cudal1::conformance
