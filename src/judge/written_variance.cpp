#include "judge/written_variance.hpp"

#include <algorithm>

#include "graph/operator_name.hpp"

namespace cudal1 {
namespace {

ValueId tensor_at(const Node& node, std::size_t position, std::string_view name) {
  const auto* value = argument_as<ValueRef>(node, position, name);
  return value ? value->id : -1;
}

const Node* maker_of(const OpGraph& graph, ValueId id) {
  if (id < 0) return nullptr;
  const auto makes = [id](const Node& node) { return !node.outputs.empty() && node.outputs[0] == id; };
  const auto found = std::ranges::find_if(graph.nodes, makes);
  return found == graph.nodes.end() ? nullptr : &*found;
}

//! The value that was viewed, expanded or unsqueezed into this one.
ValueId behind_views(const OpGraph& graph, ValueId id) {
  const Node* node = maker_of(graph, id);
  while (node && graph.values[static_cast<std::size_t>(id)].view) {
    id = tensor_at(*node, 0, "self");
    node = maker_of(graph, id);
  }
  return id;
}

bool is_two(const Argument* argument) {
  if (!argument) return false;
  if (const auto* whole = std::get_if<std::int64_t>(argument)) return *whole == 2;
  const auto* real = std::get_if<double>(argument);
  return real && *real == 2.0;
}

//! What is squared in this node; -1 if nothing is.
ValueId squared_in(const Node& node) {
  const std::string_view op = base_name(node.op);
  const ValueId first = tensor_at(node, 0, "self");
  if (op == "square" || (op == "pow" && is_two(argument_of(node, 1, "exponent")))) return first;
  return op == "mul" && tensor_at(node, 1, "other") == first ? first : -1;
}

//! What the value is a mean of: `mean`, or `sum` and a number that divides it; -1 if it is none.
ValueId averaged_in(const OpGraph& graph, ValueId id) {
  const Node* node = maker_of(graph, behind_views(graph, id));
  if (node && (base_name(node->op) == "div" || base_name(node->op) == "mul") && tensor_at(*node, 1, "other") < 0) {
    node = maker_of(graph, behind_views(graph, tensor_at(*node, 0, "self")));
    return node && base_name(node->op) == "sum" ? tensor_at(*node, 0, "self") : -1;
  }
  return node && base_name(node->op) == "mean" ? tensor_at(*node, 0, "self") : -1;
}

bool is_mean_of(const OpGraph& graph, ValueId mean, ValueId of) {
  const ValueId averaged = averaged_in(graph, mean);
  return averaged >= 0 && behind_views(graph, averaged) == behind_views(graph, of);
}

//! x, if the value is x less a mean of it, or that less x; else -1.
ValueId centred_in(const OpGraph& graph, ValueId id) {
  const Node* difference = maker_of(graph, behind_views(graph, id));
  if (!difference || base_name(difference->op) != "sub") return -1;
  const ValueId first = tensor_at(*difference, 0, "self"), second = tensor_at(*difference, 1, "other");
  if (is_mean_of(graph, second, first)) return first;
  return is_mean_of(graph, first, second) ? second : -1;
}

}  // namespace

std::optional<WrittenVariance> written_variance(const OpGraph& graph, const Node& node) {
  const std::string_view op = base_name(node.op);
  if (op != "mean" && op != "sum") return std::nullopt;
  const Node* squares = maker_of(graph, tensor_at(node, 0, "self"));
  if (!squares) return std::nullopt;
  WrittenVariance found;
  found.argument = centred_in(graph, squared_in(*squares));
  if (found.argument < 0) return std::nullopt;
  if (const auto* dimensions = argument_as<std::vector<std::int64_t>>(node, 1, "dim")) found.dimensions = *dimensions;
  found.is_sum = op == "sum";
  return found;
}

}  // namespace cudal1
