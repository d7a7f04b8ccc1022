#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

//! One directive of a source text that brings in another file.
struct IncludeDirective {
  std::string word;       //!< "include", "include_next", "import" or "embed"
  std::string name;       //!< what stands between <> or "", else the whole operand
  bool computed = false;  //!< anything but #include with a plain <name> or "name"
  int line = 0;
};

//! Finds every include directive the way a preprocessor would: line splices, comments and digraphs are seen through,
//! string literals (raw ones too) are skipped. Conditionals are not evaluated: what is written counts.
std::vector<IncludeDirective> scan_includes(std::string_view source);

}  // namespace cudal1
