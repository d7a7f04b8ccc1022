// Checks of numbers on the command line, where those of CLI11 let too much pass.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

namespace cudal1 {

//! CLI::Range takes "nan": it is neither below nor above.
inline CLI::Validator number_between(double least, double most) {
  const auto check = [least, most](std::string& text) {
    double value = 0.0;
    const bool good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
    return good ? std::string() : fmt::format("'{}' is no number from {} to {}", text, least, most);
  };
  return CLI::Validator(check, fmt::format("FLOAT in [{} - {}]", least, most));
}

//! Conversions to unsigned types take "-1" for the largest number.
inline CLI::Validator whole_number() {
  const auto check = [](std::string& text) {
    const bool good = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return good ? std::string() : fmt::format("'{}' is no whole number from 0 up", text);
  };
  return CLI::Validator(check, "");
}

}  // namespace cudal1
