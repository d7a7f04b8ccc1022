// Everything that a proposal may say about a task: rewrites of its graph, and what can be fused after each of them.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/search/fusion_space.hpp"

namespace cudal1 {

class SearchSpace {
 public:
  //! The graph must have its metas.
  explicit SearchSpace(OpGraph graph);

  const OpGraph& graph() const { return graph_; }
  //! Null: the graph rules one of the rewrites out. Both are valid until many others are asked for.
  const OpGraph* graph_after(const std::vector<std::string>& rewrites);
  FusionSpace* after(const std::vector<std::string>& rewrites);
  //! Nodes of that graph that run when weights change.
  const std::set<std::string>& hoisted_after(const std::vector<std::string>& rewrites) {
    return known(rewrites).hoisted;
  }
  //! Lines that may follow these rewrites.
  std::vector<std::string> further_rewrites(const std::vector<std::string>& rewrites);
  //! All that go together, in the order in which techniques suggest them.
  std::vector<std::string> all_rewrites();
  //! What is left of a proposal whose rewrites have changed: fusions that are still possible.
  void mend(Proposal& proposal);

 private:
  struct Known {
    std::vector<std::string> rewrites;
    std::optional<OpGraph> graph;  //!< nothing: ruled out
    std::set<std::string> hoisted;
    std::unique_ptr<FusionSpace> space;  //!< made when it is asked for
  };
  Known& known(const std::vector<std::string>& rewrites);
  OpGraph graph_;
  std::deque<Known> known_;  //!< the newest last
};

}  // namespace cudal1
