// Programs may rename their lines (`#line 7 "other.cu"`); people and models need the lines of the text they wrote.
#pragma once

#include <string_view>

namespace cudal1 {

bool has_line_directives(std::string_view source);

//! The line of the source that a compiler calls line `line` of `file`; the first if there are several, 0 if none.
int line_in_source(std::string_view source, std::string_view file, int line);

}  // namespace cudal1
