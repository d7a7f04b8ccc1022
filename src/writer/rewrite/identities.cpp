#include "writer/rewrite/identities.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "graph/operator_name.hpp"
#include "program/unit_order.hpp"

namespace cudal1 {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, Names names) { return std::ranges::find(names, name) != names.end(); }

ValueId tensor(const Node& node, std::size_t position) {
  const auto* ref = position < node.args.size() ? std::get_if<ValueRef>(&node.args[position]) : nullptr;
  return ref ? ref->id : -1;
}

//! A number, or a tensor that a node fills with one.
std::optional<double> constant(const OpGraph& graph, const Argument* argument) {
  if (!argument) return std::nullopt;
  if (const auto* real = std::get_if<double>(argument)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(argument)) return static_cast<double>(*whole);
  if (const auto* flag = std::get_if<bool>(argument)) return *flag ? 1.0 : 0.0;
  const auto* ref = std::get_if<ValueRef>(argument);
  if (!ref || ref->id < 0 || graph.values[ref->id].node < 0) return std::nullopt;
  const std::string_view maker = base_name(graph.nodes[graph.values[ref->id].node].op);
  if (is_one_of(maker, {"ones", "ones_like", "new_ones"})) return 1.0;
  if (is_one_of(maker, {"zeros", "zeros_like", "new_zeros"})) return 0.0;
  return std::nullopt;
}

//! The other one, where `position` holds this number.
std::optional<ValueId> other_if(const OpGraph& graph, const Node& node, std::size_t position, double number) {
  const Argument* argument = argument_of(node, position, position == 1 ? "other" : "self");
  const ValueId other = tensor(node, 1 - position);
  return other >= 0 && constant(graph, argument) == number ? std::optional(other) : std::nullopt;
}

bool is_plain_scale(const OpGraph& graph, const Node& node) {
  const auto alpha = constant(graph, argument_of(node, 2, "alpha"));
  return !alpha || *alpha == 1.0;
}

std::optional<ValueId> through_arithmetic(const OpGraph& graph, const Node& node) {
  const std::string_view name = base_name(node.op);
  if (is_one_of(name, {"mul", "multiply"})) {
    const auto first = other_if(graph, node, 1, 1.0);
    return first ? first : other_if(graph, node, 0, 1.0);
  }
  if (is_one_of(name, {"div", "divide", "true_divide"}) && !argument_as<std::string>(node, 2, "rounding_mode"))
    return other_if(graph, node, 1, 1.0);
  if (name == "add" && is_plain_scale(graph, node)) {
    const auto first = other_if(graph, node, 1, 0.0);
    return first ? first : other_if(graph, node, 0, 0.0);
  }
  if (is_one_of(name, {"sub", "subtract"}) && is_plain_scale(graph, node)) return other_if(graph, node, 1, 0.0);
  if (name == "pow" && constant(graph, argument_of(node, 1, "exponent")) == 1.0 && tensor(node, 0) >= 0)
    return tensor(node, 0);
  return std::nullopt;
}

//! No element of it is below zero; NaN may be there.
bool is_never_negative(const OpGraph& graph, ValueId value) {
  const Value& base = graph.values[base_of(graph, value)];
  // Integers overflow: the square of one, and even the absolute value, may be negative.
  const bool is_real = is_floating(base.meta.dtype) && graph.values[value].meta.dtype == base.meta.dtype;
  return is_real && base.node >= 0 &&
         is_one_of(base_name(graph.nodes[base.node].op),
                   {"relu", "relu6", "sigmoid", "hardsigmoid", "abs", "exp", "square", "softmax", "sqrt"});
}

bool all_equal(const Argument* argument, std::int64_t number) {
  if (const auto* single = argument ? std::get_if<std::int64_t>(argument) : nullptr) return *single == number;
  const auto* list = argument ? std::get_if<std::vector<std::int64_t>>(argument) : nullptr;
  return list && std::ranges::all_of(*list, [&](std::int64_t element) { return element == number; });
}

bool draws_nothing(const OpGraph& graph, const Node& node) {
  const bool* train = argument_as<bool>(node, 2, "train");
  return (train && !*train) || constant(graph, argument_of(node, 1, "p")) == 0.0;
}

bool copies(std::string_view name) {
  return is_one_of(name, {"clone", "contiguous", "to", "_to_copy", "alias", "detach", "lift_fresh_copy", "positive"});
}

//! A window of one element, so that sizes that stay the same mean that every element stays.
bool looks_at_one_element(const Node& node, std::string_view name) {
  return is_one_of(name, {"avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d"}) &&
         all_equal(argument_of(node, 1, "kernel_size"), 1) && !argument_as<std::int64_t>(node, 6, "divisor_override");
}

}  // namespace

std::optional<ValueId> same_elements_as(const OpGraph& graph, const Node& node) {
  const std::string_view name = base_name(node.op);
  if (const auto found = through_arithmetic(graph, node)) return found;
  const ValueId first = tensor(node, 0);
  if (first < 0) return std::nullopt;
  const bool stays = copies(name) ||
                     (is_one_of(name, {"dropout", "feature_dropout", "alpha_dropout"}) && draws_nothing(graph, node)) ||
                     (is_one_of(name, {"relu", "abs"}) && is_never_negative(graph, first)) ||
                     (is_one_of(name, {"constant_pad_nd", "pad"}) && all_equal(argument_of(node, 1, "pad"), 0)) ||
                     (is_one_of(name, {"repeat", "tile"}) && all_equal(argument_of(node, 1, "repeats"), 1)) ||
                     looks_at_one_element(node, name);
  return stays ? std::optional(first) : std::nullopt;
}

}  // namespace cudal1
