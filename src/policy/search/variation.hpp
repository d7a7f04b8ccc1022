// New proposals from old ones: mutation and crossover, never what the graph rules out.
#pragma once

#include "base/random.hpp"
#include "policy/search/search_space.hpp"

namespace cudal1 {

class Variation {
 public:
  Variation(SearchSpace& space, Random& random) : space_(space), random_(random) {}

  //! One to three small changes.
  Proposal mutated(Proposal proposal);
  //! Rewrites of one, fusions of both, one at a time, as far as they do not want the same nodes.
  Proposal crossed(const Proposal& first, const Proposal& second);

 private:
  void change_once(Proposal& proposal);
  void change_parameter(Proposal& proposal);
  void take_node_out(Proposal& proposal);
  void join_neighbours(Proposal& proposal);
  void leave_to_library(Proposal& proposal);
  void fuse_another(Proposal& proposal);
  void rewrite_more(Proposal& proposal);
  void rewrite_less(Proposal& proposal);
  void change_graph(Proposal& proposal);

  SearchSpace& space_;
  Random& random_;
};

}  // namespace cudal1
