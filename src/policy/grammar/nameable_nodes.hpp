// The nodes that lines of a program can name, and which of them a line `fuse` can name together.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "writer/technique.hpp"

namespace cudal1 {

//! What one technique of `fuse` makes kernels of.
struct FusionFamily {
  const FusionTechnique* technique = nullptr;
  std::set<std::string> members;  //!< it is for each of these, alone or with a companion
  //! These may come along: pointwise nodes, views, members of some others. A rewrite can make a member one of them.
  std::set<std::string> companions;
  bool takes_several = false;  //!< members in one line
};

struct NameableNodes {
  std::set<std::string> nodes;                            //!< of the task, and those that rewrites add
  std::vector<FusionFamily> families;                     //!< those with members
  std::map<std::string, std::set<std::string>> patterns;  //!< by directive: with wildcards, as techniques suggest them
};

//! `most_combinations`: see for_each_rewritten_graph. The graph must have its metas.
NameableNodes nameable_nodes(const OpGraph& graph, int most_combinations);

//! `relu_*` for every stem of these nodes.
std::set<std::string> stem_patterns(const std::set<std::string>& nodes);

}  // namespace cudal1
