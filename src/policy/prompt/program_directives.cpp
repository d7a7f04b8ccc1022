#include "policy/prompt/program_directives.hpp"

#include <fmt/format.h>

#include "policy/prompt/text_blocks.hpp"
#include "program/rejection.hpp"
#include "program/source_scan.hpp"

namespace cudal1 {

std::optional<std::string> directives_alone(std::string_view program) try {
  const SourceScan scan = scan_source(program);
  if (!scan.tokens.empty()) return std::nullopt;
  std::string lines;
  for (const DirectiveText& directive : scan.directives) {
    std::string line;
    for (const DirectivePiece& piece : directive.pieces)
      line += fmt::format(" {}", piece.text.substr(0, piece.text.find("//")));
    line = on_one_line(line);
    if (!line.empty()) lines += fmt::format("//! {}\n", line);
  }
  return lines;
} catch (const Rejection&) {
  return std::nullopt;
}

}  // namespace cudal1
