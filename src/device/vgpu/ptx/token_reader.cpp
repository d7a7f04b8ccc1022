#include "device/vgpu/ptx/token_reader.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>

namespace cudal1::ptx {

std::string TokenReader::expect_word(const char* what) {
  if (now().kind != Token::Kind::word) fail(fmt::format("{} expected, not {}", what, shown()));
  return take().text;
}

std::string TokenReader::expect_directive(const char* what) {
  if (!at_directive()) fail(fmt::format("{} expected, not {}", what, shown()));
  return take().text;
}

std::uint64_t TokenReader::integer_of(std::string text) const {
  if (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.pop_back();
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool binary = text.starts_with("0b") || text.starts_with("0B");
  const bool octal = !hexadecimal && !binary && text.size() > 1 && text.front() == '0';
  const std::size_t skip = hexadecimal || binary ? 2 : octal ? 1 : 0;
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data() + skip, text.data() + text.size(), value,
                                              hexadecimal ? 16
                                              : binary    ? 2
                                              : octal     ? 8
                                                          : 10);
  if (problem != std::errc() || end != text.data() + text.size() || skip == text.size())
    fail(fmt::format("'{}' is no integer", text));
  return value;
}

std::uint64_t TokenReader::expect_integer() {
  if (!at_number()) fail("a number expected, not " + shown());
  const std::uint64_t value = integer_of(now().text);
  take();
  return value;
}

std::uint64_t TokenReader::hexadecimal_digits(const std::string& text, std::size_t digits) const {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (problem != std::errc() || end != text.data() + text.size() || text.size() != digits + 2)
    fail(fmt::format("'{}' is no number", text));
  return value;
}

Operand TokenReader::take_number(bool negative) {
  const std::string text = take().text;
  Operand operand;
  operand.kind = Operand::Kind::floating;
  const bool single = text.starts_with("0f") || text.starts_with("0F");
  const bool real = text.starts_with("0d") || text.starts_with("0D");
  const bool decimal = !text.starts_with("0x") && !text.starts_with("0X") && text.find('.') != std::string::npos;
  if (single) {
    operand.single = true;
    operand.bits = hexadecimal_digits(text, 8) ^ (negative ? 0x80000000u : 0u);
  } else if (real) {
    operand.bits = hexadecimal_digits(text, 16) ^ (negative ? std::uint64_t{1} << 63 : 0u);
  } else if (decimal) {
    const double value = std::strtod(text.c_str(), nullptr);
    operand.bits = std::bit_cast<std::uint64_t>(negative ? -value : value);
  } else {
    operand.kind = Operand::Kind::integer;
    operand.bits = negative ? 0 - integer_of(text) : integer_of(text);
  }
  return operand;
}

}  // namespace cudal1::ptx
