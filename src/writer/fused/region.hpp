// Some nodes of a graph that become one: what goes in and what must come out.
#pragma once

#include <set>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

class Region {
 public:
  Region(const OpGraph& graph, std::set<int> nodes);

  const OpGraph& graph() const { return graph_; }
  const std::set<int>& nodes() const { return nodes_; }
  //! Without those that only make views.
  const std::vector<int>& computing_nodes() const { return computing_; }
  bool makes(ValueId value) const;
  //! Some node of it reads the value, or a view of it.
  bool reads(ValueId value) const;
  //! Values that nodes outside read, or the task returns; none of them is a view.
  const std::vector<ValueId>& outputs() const { return outputs_; }

 private:
  void find_outputs();
  const OpGraph& graph_;
  std::set<int> nodes_;
  std::vector<int> computing_;
  std::vector<ValueId> outputs_;
};

}  // namespace cudal1
