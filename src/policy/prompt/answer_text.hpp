// A model's answer as plain text: unwrapped from JSON, without its thinking, with line ends of one kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

struct PlainAnswer {
  std::string text;
  bool was_thinking = false;  //!< it ended inside its thinking
};

PlainAnswer plain_answer(std::string_view said);

//! The text in a JSON string, or in an object under a name that programs usually have there; nothing: it is no such
//! JSON.
std::optional<std::string> unwrapped_json(std::string_view text);

//! Without white space at both ends.
std::string_view trimmed_text(std::string_view text);
//! ASCII letters only.
std::string lower_case(std::string_view text);
std::vector<std::string_view> lines_of(std::string_view text);

//! Typographic quotes as the ones of a keyboard, other kinds of spaces as spaces.
std::string with_plain_quotes(std::string_view text);

}  // namespace cudal1
