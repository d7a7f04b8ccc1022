// How much memory the tensors of a task's graph take when its nodes run one after the other.
#pragma once

#include <cstdint>

#include "graph/op_graph.hpp"

namespace cudal1 {

enum class Width {
  own,   //!< as the graph declares them
  fp64,  //!< floating values as the oracle computes them
};

struct GraphBytes {
  std::uint64_t weights = 0;  //!< with states
  std::uint64_t inputs = 0;
  std::uint64_t results = 0;     //!< outputs, and what a call leaves in states
  std::uint64_t most_alive = 0;  //!< of what nodes make, at the worst moment; outputs stay
  std::uint64_t largest = 0;     //!< single value
  std::uint64_t leaves() const { return weights + inputs; }
};

//! Values whose metas are not known (infer_metas) count as one element.
GraphBytes graph_bytes(const OpGraph& graph, Width width);

}  // namespace cudal1
