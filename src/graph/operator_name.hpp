// The name and the arguments of a node, as rules for operators ask for them.
#pragma once

#include <string_view>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! "softmax" of "aten::softmax.int".
inline std::string_view base_name(std::string_view op) {
  if (const auto colons = op.rfind("::"); colons != std::string_view::npos) op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

//! The argument at this position, or of that name; null if it is not given.
inline const Argument* argument_of(const Node& node, std::size_t position, std::string_view name) {
  if (position < node.args.size()) return &node.args[position];
  for (const auto& [key, argument] : node.kwargs)
    if (key == name) return &argument;
  return nullptr;
}

template <class Type>
const Type* argument_as(const Node& node, std::size_t position, std::string_view name) {
  const Argument* argument = argument_of(node, position, name);
  return argument ? std::get_if<Type>(argument) : nullptr;
}

}  // namespace cudal1
