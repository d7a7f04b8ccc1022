// The task as data: aten operations in SSA form. No LibTorch here; the executor lives in executor.hpp.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/tensor_meta.hpp"

namespace cudal1 {

using ValueId = int;  //!< index into OpGraph::values

enum class ValueKind { input, weight, state, node_output };

//! A value that shares the memory of another: not a step, just an address, sizes and strides.
struct ViewOf {
  ValueId base = -1;                 //!< never itself a view
  std::int64_t offset_elements = 0;  //!< from the base's first element, in elements of the dtype
};

struct Value {
  std::string name;  //!< "x", "fc.weight", "softmax_1"; the second output of a node is "max_1[1]"
  ValueKind kind = ValueKind::node_output;
  TensorMeta meta;
  int node = -1;          //!< producer, for node outputs
  int output = 0;         //!< which of the producer's outputs
  bool declared = false;  //!< the file gives the meta of this node output; empty strides: any will do
  std::optional<ViewOf> view;
};

struct NoArgument {
  bool operator==(const NoArgument&) const = default;
};
struct ValueRef {
  ValueId id = -1;
  bool operator==(const ValueRef&) const = default;
};
//! A dtype as argument; `compute` marks those that the fp64 oracle may widen.
struct DTypeArgument {
  DType dtype = DType::f32;
  bool compute = false;
  bool operator==(const DTypeArgument&) const = default;
};
//! A list of tensors; id -1 stands for None.
using ValueList = std::vector<ValueRef>;

using Argument = std::variant<NoArgument, ValueRef, ValueList, bool, std::int64_t, double, std::string, DTypeArgument,
                              std::vector<std::int64_t>, std::vector<double>, std::vector<bool>>;

struct Node {
  std::string name;  //!< stable and readable: programs refer to it
  std::string op;    //!< "aten::softmax.int"; no overload after the name means the default one
  std::vector<Argument> args;
  std::vector<std::pair<std::string, Argument>> kwargs;
  std::vector<ValueId> outputs;
  std::vector<ValueId> writes_state;  //!< state leaves that this node updates in place
};

struct OpGraph {
  std::vector<Value> values;
  std::vector<Node> nodes;  //!< in topological order
  std::vector<ValueId> inputs, weights, states, outputs;

  //! By value name ("x", "softmax_1", "max_1[1]"; "max_1[0]" is "max_1"); -1 if there is none.
  ValueId find_value(std::string_view name) const;
  int find_node(std::string_view name) const;
  //! Ids of all values that a node reads, in order, without None.
  static std::vector<ValueId> reads(const Node& node);
};

}  // namespace cudal1
