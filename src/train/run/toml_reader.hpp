// The part of TOML that a configuration needs: [sections], `key = value` on one line, comments. Values are numbers,
// true and false, strings in double or single quotes, and arrays of these. No nesting, no dates, no multi-line strings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

struct TomlEntry {
  std::string section;  //!< empty before the first one
  std::string key;
  nlohmann::json value;  //!< a number, a boolean, a string, or an array of these
  int line = 0;          //!< counted from 1
};

//! "run.toml:12: what": the one form of complaints about a place in a configuration. Throws UsageError.
[[noreturn]] void complain_of_line(std::string_view origin, int line, const std::string& what);

//! In the order of the text. Throws UsageError in one line with the place: for what is none of the above, for a section
//! or a key that is there twice.
std::vector<TomlEntry> read_toml(std::string_view text, std::string_view origin);

//! A value alone, with nothing behind it; a failure is one line without a place.
nlohmann::json read_toml_value(std::string_view text);

//! As read_toml reads it.
std::string toml_text(const nlohmann::json& value);

}  // namespace cudal1
