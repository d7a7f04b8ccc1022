// A program as the search sees it: how the graph is rewritten, which nodes are fused how, and nothing else.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

//! A line `fuse NODE… : name=value …`.
struct Fusion {
  std::set<std::string> nodes;
  std::map<std::string, std::string> parameters = {};  //!< those that are not left to the technique
  bool operator==(const Fusion&) const = default;
};

struct Proposal {
  std::vector<std::string> rewrites;  //!< lines without `//!`, in their order
  std::vector<Fusion> fusions;        //!< of different nodes of the graph that the rewrites leave
  bool cuda_graph = false;
  int branches = 1;  //!< of the graph
  bool operator==(const Proposal&) const = default;

  bool is_empty() const { return rewrites.empty() && fusions.empty() && !cuda_graph; }
  std::set<std::string> fused_nodes() const;
};

std::string to_text(const Proposal& proposal);
//! Only the rewrites.
std::string rewrites_text(const Proposal& proposal);

//! Nothing where the text has more in it than a proposal can say: code, wildcards, directives of another kind.
std::optional<Proposal> proposal_from_text(std::string_view text);

}  // namespace cudal1
