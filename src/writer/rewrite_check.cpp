#include "writer/rewrite_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "writer/technique.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {

std::vector<std::string> suggested_rewrites(const OpGraph& graph) {
  std::vector<std::string> lines;
  for (const RewriteTechnique* technique : rewrite_techniques())
    std::ranges::copy(technique->suggestions(graph), std::back_inserter(lines));
  return lines;
}

std::vector<std::string> possible_rewrites(const OpGraph& graph, std::string_view text) {
  const auto before = write_program(graph, text);
  if (!before) return {};
  std::vector<std::string> possible;
  for (const std::string& line : suggested_rewrites(before.value().graph))
    if (write_program(graph, fmt::format("{}\n//! {}\n", text, line))) possible.push_back(line);
  return possible;
}

}  // namespace cudal1
