// Solutions are often pasted from a model's answer, with Markdown's fences around the code.
#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

//! The code of a text that is one fenced block (```python … ```) and nothing else, with its lines at their numbers; any
//! other text as it is.
std::string without_fences(std::string text);

//! A line begins with ```.
bool has_fences(std::string_view text);

}  // namespace cudal1
