// Whole numbers as kernel files write them: (n + 255) / 256.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cudal1::conformance {

using Values = std::map<std::string, std::int64_t>;

//! Numbers, names, + - * / % and parentheses; division rounds towards zero. Throws Error saying what is wrong.
std::int64_t evaluate(std::string_view expression, const Values& values);

}  // namespace cudal1::conformance
