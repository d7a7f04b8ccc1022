// What can be fused in a graph: the space that the search moves in.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "policy/search/proposal.hpp"
#include "writer/technique.hpp"

namespace cudal1 {

class FusionSpace {
 public:
  explicit FusionSpace(const OpGraph& graph);

  const OpGraph& graph() const { return graph_; }
  //! Nodes that can be written by themselves.
  const std::vector<int>& nodes() const { return fusible_; }
  //! Null: these cannot be fused. Remembered, since the search asks again and again.
  const FusionTechnique* technique_for(const std::set<int>& nodes);
  //! Fusible nodes outside that read a result of these, or make what they read.
  std::set<int> neighbours(const std::set<int>& nodes) const;
  //! As few groups as possible: each grows by its neighbours as long as they can be fused.
  std::vector<Fusion> largest_fusions();

 private:
  struct Groups;
  bool grow(Groups& groups, std::size_t index);

  const OpGraph& graph_;
  std::vector<int> fusible_;
  std::vector<std::set<int>> readers_, producers_;  //!< by node
  std::map<std::set<int>, const FusionTechnique*> known_;
};

}  // namespace cudal1
