// How one element of each operator's result is computed.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "graph/op_graph.hpp"
#include "writer/fused/lowering.hpp"

namespace cudal1 {

//! A node whose result is asked for at an index.
struct RuleCall {
  Lowering& lowering;
  const Node& node;
  const Value& value;  //!< which of its outputs
  const Point& point;

  ScalarKind result_kind() const { return scalar_kind(value.meta.dtype); }
  //! The argument at this position or of that name is there and not None.
  bool has(std::size_t position, std::string_view name) const;
  //! It, broadcast to the result, as this kind; numbers become constants. Refuses the node if it is not there.
  int operand(std::size_t position, std::string_view name, ScalarKind kind) const;
  int operand_or(std::size_t position, std::string_view name, ScalarKind kind, double fallback) const;
  //! A number that is known now.
  double number(std::size_t position, std::string_view name, double fallback) const;
};

//! The term of the result, of any kind.
using OperatorRule = std::function<int(const RuleCall&)>;

//! Null: there is none.
const OperatorRule* rule_of(const Node& node);

//! Every element of the result is made of one element of each argument, wherever it lies.
bool is_pointwise(const Node& node);

//! Some element of the result is made of many elements of an argument.
bool is_reduction(const OpGraph& graph, const Node& node);

//! Elements of the result are made of windows into an argument: pooling, and with weights for each place in the
//! window, convolution.
bool is_pooling(const OpGraph& graph, const Node& node);
bool is_direct_convolution(const Node& node);

//! An element of the result is made of those before it in a dimension.
bool is_scan(const Node& node);

}  // namespace cudal1
