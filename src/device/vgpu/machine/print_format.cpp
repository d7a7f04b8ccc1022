#include "device/vgpu/machine/print_format.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <vector>

namespace cudal1::vgpu {
namespace {

constexpr int widest = 1024;

//! %-08.3lld
struct Conversion {
  std::string flags;
  int width = -1, precision = -1;  // -1: not given
  bool wide = false;               // an integer of 64 bits
  char kind = 0;                   // 0: not a conversion
};

bool is_one_of(char c, std::string_view characters) { return characters.find(c) != std::string_view::npos; }

class Printer {
 public:
  Printer(std::string_view format, const PrintArguments& arguments) : format_(format), arguments_(arguments) {}

  Printed run() {
    while (at_ < format_.size()) {
      const std::size_t start = at_;
      if (format_[at_++] != '%') {
        printed_.text += format_[start];
        continue;
      }
      const Conversion conversion = take_conversion();
      if (conversion.kind == 0)
        printed_.text += format_.substr(start, at_ - start);
      else
        print(conversion);
    }
    return std::move(printed_);
  }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  std::uint64_t next(std::size_t bytes) {
    ++printed_.arguments;
    return arguments_.next(bytes);
  }

  //! A number, or * for one among the arguments.
  int take_number() {
    if (peek() == '*') {
      ++at_;
      return std::clamp(static_cast<std::int32_t>(next(4)), -widest, widest);
    }
    int number = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) number = std::min(10 * number + (peek() - '0'), widest);
    return number;
  }

  Conversion take_conversion() {
    Conversion found;
    while (is_one_of(peek(), "-+ #0") && found.flags.size() < 8) found.flags += format_[at_++];
    if (is_one_of(peek(), "*123456789")) found.width = take_number();
    if (found.width < 0 && found.width != -1) {
      found.flags += '-';  // as C says of a negative width
      found.width = -found.width;
    }
    if (peek() == '.') {
      ++at_;
      found.precision = std::max(take_number(), 0);
    }
    for (int letters = 0; is_one_of(peek(), "hlLqjzt"); ++at_) {
      letters += peek() == 'l';
      found.wide |= is_one_of(peek(), "Lqjzt") || letters > 0;
    }
    if (at_ < format_.size() && is_one_of(peek(), "%diuoxXcspfFeEgGaA")) found.kind = format_[at_++];
    return found;
  }

  void print(const Conversion& conversion) {
    if (conversion.kind == '%') {
      printed_.text += '%';
    } else if (conversion.kind == 's') {
      write(conversion, "s", arguments_.text_at(next(8)).c_str());
    } else if (conversion.kind == 'p') {
      write(conversion, "p", reinterpret_cast<const void*>(next(8)));
    } else if (conversion.kind == 'c') {
      write(conversion, "c", static_cast<int>(next(4)));
    } else if (is_one_of(conversion.kind, "diuoxX")) {
      print_integer(conversion);
    } else {
      write(conversion, std::string(1, conversion.kind), std::bit_cast<double>(next(8)));
    }
  }

  void print_integer(const Conversion& conversion) {
    const std::uint64_t bits = next(conversion.wide ? 8 : 4);
    if (conversion.wide)
      write(conversion, std::string("ll") + conversion.kind, static_cast<long long>(bits));
    else
      write(conversion, std::string(1, conversion.kind), static_cast<int>(bits));
  }

  //! The format comes from flags that were looked at and numbers that were bounded, never from the kernel's text.
  template <class T>
  void write(const Conversion& conversion, const std::string& kind, T value) {
    std::string format = "%" + conversion.flags;
    if (conversion.width >= 0) format += std::to_string(conversion.width);
    if (conversion.precision >= 0) format.append(".").append(std::to_string(conversion.precision));
    format += kind;
    const int length = std::snprintf(nullptr, 0, format.c_str(), value);
    if (length < 0) return;
    std::vector<char> text(static_cast<std::size_t>(length) + 1);
    std::snprintf(text.data(), text.size(), format.c_str(), value);
    printed_.text.append(text.data(), static_cast<std::size_t>(length));
  }

  std::string_view format_;
  const PrintArguments& arguments_;
  std::size_t at_ = 0;
  Printed printed_;
};

}  // namespace

Printed print_format(std::string_view format, const PrintArguments& arguments) {
  return Printer(format, arguments).run();
}

}  // namespace cudal1::vgpu
