// The policy that learns nothing: it fuses as much as it can, then varies what was fast.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "policy/search/fusion_space.hpp"

namespace cudal1 {

//! A program that was judged.
struct ScoredProgram {
  std::string text;
  double reward = 0.0;  //!< 0: it was not right
};

class SearchPolicy {
 public:
  //! The graph must outlive it and have its metas.
  SearchPolicy(const OpGraph& graph, Random random);

  //! A program that becomes a plan which none of those proposed before, or seen, becomes. Nothing: none is found.
  std::optional<std::string> propose(const std::vector<ScoredProgram>& seen);

 private:
  struct Parent {
    Proposal proposal;
    double reward = 0.0;
  };
  void add_openings();
  std::optional<std::string> accepted(const Proposal& proposal);
  void look_at(const std::vector<ScoredProgram>& seen);
  const Proposal& chosen_parent();
  Proposal variation();
  Proposal mutated(Proposal proposal);
  Proposal crossed(const Proposal& first, const Proposal& second);
  void change_parameter(Proposal& proposal);
  void take_node_out(Proposal& proposal);
  void join_neighbours(Proposal& proposal);
  void leave_to_library(Proposal& proposal);
  void fuse_another(Proposal& proposal);
  std::set<int> fused_nodes(const Proposal& proposal) const;

  FusionSpace space_;
  Random random_;
  std::vector<Proposal> openings_;  //!< still to be proposed, the last first
  std::set<std::string> plans_;     //!< hashes of those that were proposed or seen
  std::size_t looked_at_ = 0;
  std::vector<Parent> parents_;
};

}  // namespace cudal1
