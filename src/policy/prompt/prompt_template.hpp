// Texts with placeholders: "Task {{name}}". What stands in prompts/ is written for people to change.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "policy/prompt/prompt_files.hpp"

namespace cudal1 {

using PlaceholderValues = std::map<std::string, std::string>;

//! Names in the order in which they stand there. Throws Error for a `{{` that does not begin a placeholder.
std::vector<std::string> placeholders_of(std::string_view text, const std::string& file);

//! Every placeholder must have a value and every value a placeholder, else Error: a template that forgets a part shows
//! it at once. Values go in as they are: what looks like a placeholder in them is text.
std::string fill_template(std::string_view text, const PlaceholderValues& values, const std::string& file);

//! The file of this name in prompts/, filled.
std::string filled_prompt_file(const std::string& name, const PlaceholderValues& values);

}  // namespace cudal1
