// A program as the search sees it: which nodes are fused how, and nothing else.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! A line `fuse NODE… : name=value …`.
struct Fusion {
  std::set<int> nodes;
  std::map<std::string, std::string> parameters;  //!< those that are not left to the technique
  bool operator==(const Fusion&) const = default;
};

struct Proposal {
  std::vector<Fusion> fusions;  //!< of different nodes, in the order of their first
  bool cuda_graph = false;
  bool operator==(const Proposal&) const = default;

  bool is_empty() const { return fusions.empty() && !cuda_graph; }
};

std::string to_text(const OpGraph& graph, const Proposal& proposal);

//! Nothing where the text has more in it than a proposal can say.
std::optional<Proposal> proposal_from_text(const OpGraph& graph, std::string_view text);

}  // namespace cudal1
