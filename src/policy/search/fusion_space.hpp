// What can be fused in a graph: the space that the search moves in.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "policy/search/proposal.hpp"
#include "writer/technique.hpp"

namespace cudal1 {

//! What groups may be made of: anything, or pointwise nodes and those of one other technique.
enum class Mixture { anything, one_technique };

class FusionSpace {
 public:
  //! `hoisted`: nodes that run when weights change, which are left alone.
  explicit FusionSpace(OpGraph graph, const std::set<std::string>& hoisted = {});

  const OpGraph& graph() const { return graph_; }
  //! Nodes that can be written by themselves, in their order.
  const std::vector<std::string>& nodes() const { return names_; }
  //! Null: these cannot be fused, or are not there. Remembered, since the search asks again and again.
  const FusionTechnique* technique_for(const std::set<std::string>& nodes);
  //! Fusible nodes outside that read a result of these, or make what they read.
  std::set<std::string> neighbours(const std::set<std::string>& nodes) const;
  //! As few groups as possible of these nodes: each grows by its neighbours as long as they can be fused.
  std::vector<Fusion> largest_fusions(const std::set<std::string>& of, Mixture mixture = Mixture::anything);
  //! Where the fusion's first node stands.
  int place_of(const Fusion& fusion) const;

 private:
  using Nodes = std::set<int>;
  struct Groups;
  const FusionTechnique* technique(const Nodes& nodes);
  Nodes next_to(const Nodes& nodes) const;
  bool grow(Groups& groups, std::size_t index);
  bool join(Groups& groups, std::size_t index, std::size_t other);
  void gather_small(Groups& groups);
  bool is_small(const Nodes& nodes) const;
  bool is_mixed(const Nodes& nodes);
  Nodes numbers(const std::set<std::string>& names) const;
  std::set<std::string> names(const Nodes& nodes) const;

  OpGraph graph_;
  std::vector<int> fusible_;
  std::vector<std::string> names_;
  std::vector<Nodes> readers_, producers_;  //!< by node
  std::map<Nodes, const FusionTechnique*> known_;
};

}  // namespace cudal1
