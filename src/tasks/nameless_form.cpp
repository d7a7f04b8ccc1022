#include "tasks/nameless_form.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "base/hash.hpp"

namespace cudal1 {
namespace {

//! What stands for a value in a text.
using ValueText = std::function<std::string(ValueId)>;

struct Operands {
  ValueId first = -1, second = -1;
};

//! Of an operator that gives the same whichever comes first.
std::optional<Operands> commutative_operands(const Node& node) {
  constexpr std::array<std::string_view, 4> ops{"aten::add.Tensor", "aten::mul.Tensor", "aten::maximum",
                                                "aten::minimum"};
  if (std::ranges::find(ops, node.op) == ops.end() || node.args.size() != 2 || !node.kwargs.empty()) return {};
  const auto* first = std::get_if<ValueRef>(&node.args[0]);
  const auto* second = std::get_if<ValueRef>(&node.args[1]);
  if (!first || !second) return {};
  return Operands{first->id, second->id};
}

//! The kind of an argument is part of its text, since 1 and 1.0 are different ones.
struct ArgumentText {
  const ValueText& value_text;

  std::string operator()(const NoArgument&) const { return "none"; }
  std::string operator()(const ValueRef& ref) const { return ref.id < 0 ? "none" : value_text(ref.id); }
  std::string operator()(const ValueList& list) const {
    std::vector<std::string> texts;
    for (const ValueRef& ref : list) texts.push_back((*this)(ref));
    return fmt::format("values [{}]", fmt::join(texts, ", "));
  }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return fmt::format("int {}", number); }
  std::string operator()(double number) const { return fmt::format("float {}", number); }
  std::string operator()(const std::string& text) const { return fmt::format("string {} {}", text.size(), text); }
  std::string operator()(const DTypeArgument& argument) const {
    return fmt::format("dtype {}{}", to_string(argument.dtype), argument.compute ? " compute" : "");
  }
  std::string operator()(const std::vector<std::int64_t>& list) const {
    return fmt::format("ints [{}]", fmt::join(list, ", "));
  }
  std::string operator()(const std::vector<double>& list) const {
    return fmt::format("floats [{}]", fmt::join(list, ", "));
  }
  std::string operator()(const std::vector<bool>& list) const {
    std::string digits;
    for (const bool flag : list) digits += flag ? '1' : '0';
    return fmt::format("flags [{}]", digits);
  }
};

std::string meta_text(const TensorMeta& meta) {
  return fmt::format("{} strides [{}]", to_string(meta), fmt::join(meta.strides, ", "));
}

std::string leaf_text(const Task& task, const LeafSource& leaf) {
  const Value& value = task.graph.values[leaf.value];
  return fmt::format("leaf {} {} draw {} {} {} without [{}]", static_cast<int>(value.kind), meta_text(value.meta),
                     static_cast<int>(leaf.draw.kind), leaf.draw.a, leaf.draw.b,
                     fmt::join(leaf.excluded_distributions, ", "));
}

std::string arguments_text(const Node& node, const ValueText& value_text) {
  const ArgumentText text{value_text};
  std::vector<std::string> texts;
  for (const Argument& argument : node.args) texts.push_back(std::visit(text, argument));
  for (const auto& [name, argument] : node.kwargs)
    texts.push_back(fmt::format("{}={}", name, std::visit(text, argument)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

//! What a node says besides its arguments: what it writes, and results that the file declares.
std::string effects_text(const OpGraph& graph, const Node& node, const ValueText& value_text) {
  std::string text;
  for (const ValueId state : node.writes_state) text += fmt::format(" writes {}", value_text(state));
  for (const ValueId output : node.outputs)
    if (graph.values[output].declared) text += fmt::format(" gives {}", meta_text(graph.values[output].meta));
  return text;
}

//! For each value a hash of everything that it is computed from, which does not tell equal leaves apart.
std::vector<std::string> looks_of(const Task& task) {
  const OpGraph& graph = task.graph;
  std::vector<std::string> looks(graph.values.size());
  for (const LeafSource& leaf : task.leaves) looks[leaf.value] = sha256_hex(leaf_text(task, leaf));
  const ValueText look = [&](ValueId id) { return looks[id]; };
  for (const Node& node : graph.nodes) {
    std::string arguments = arguments_text(node, look);
    if (const auto operands = commutative_operands(node)) {
      const auto [least, most] = std::minmax(looks[operands->first], looks[operands->second]);
      arguments = fmt::format("{}, {}", least, most);
    }
    const std::string text = fmt::format("{}({}){}", node.op, arguments, effects_text(graph, node, look));
    for (const ValueId output : node.outputs)
      looks[output] = sha256_hex(fmt::format("{} of {}", graph.values[output].output, text));
  }
  return looks;
}

//! One walk from the outputs to the leaves, which numbers nodes and leaves as it leaves them. Each line is a whole node
//! or leaf, so that equal texts are equal graphs, whatever led the walk.
class Walk {
 public:
  //! `swaps` says for each pair of operands that look the same whether the second goes first; what it lacks is added.
  Walk(const Task& task, const std::vector<std::string>& looks, std::vector<bool>& swaps)
      : task_(task),
        looks_(looks),
        swaps_(swaps),
        leaf_numbers_(looks.size()),
        node_numbers_(task.graph.nodes.size()) {}

  std::string text() {
    std::string outputs = "outputs";
    for (const ValueId output : task_.graph.outputs) outputs += fmt::format(" {}", value_text(output));
    // Nodes that read or write a state keep their order. What no output needs belongs to the task all the same.
    std::string in_order = "in order";
    for (int node = 0; node < static_cast<int>(node_numbers_.size()); ++node)
      if (touches_state(node)) in_order += fmt::format(" {}", number_of_node(node));
    for (int node = 0; node < static_cast<int>(node_numbers_.size()); ++node) number_of_node(node);
    for (const LeafSource& leaf : task_.leaves) number_of_leaf(leaf);
    return fmt::format("{}{}\n{}\n", text_, outputs, in_order);
  }

 private:
  bool touches_state(int node) const {
    const std::vector<ValueId> reads = OpGraph::reads(task_.graph.nodes[node]);
    return std::ranges::any_of(reads, [&](ValueId id) { return task_.graph.values[id].kind == ValueKind::state; });
  }

  std::string value_text(ValueId id) {
    const Value& value = task_.graph.values[id];
    if (value.node >= 0) return fmt::format("#{}[{}]", number_of_node(value.node), value.output);
    const auto leaf = std::ranges::find(task_.leaves, id, &LeafSource::value);
    return fmt::format("#{}", number_of_leaf(*leaf));
  }

  int number_of_leaf(const LeafSource& leaf) {
    std::optional<int>& number = leaf_numbers_[leaf.value];
    if (!number) number = add_line(leaf_text(task_, leaf));
    return *number;
  }

  int number_of_node(int node) {
    std::optional<int>& number = node_numbers_[node];
    if (!number) number = add_line(node_text(task_.graph.nodes[node]));
    return *number;
  }

  int add_line(const std::string& line) {
    text_ += fmt::format("{}\n", line);
    return count_++;
  }

  std::string node_text(const Node& node) {
    const ValueText text = [&](ValueId id) { return value_text(id); };
    const auto operands = commutative_operands(node);
    const std::string arguments = operands ? operands_text(*operands) : arguments_text(node, text);
    return fmt::format("{}({}){}", node.op, arguments, effects_text(task_.graph, node, text));
  }

  std::string operands_text(Operands operands) {
    if (second_goes_first(operands)) std::swap(operands.first, operands.second);
    const std::string first = value_text(operands.first), second = value_text(operands.second);
    return fmt::format("{}, {}", first, second);
  }

  bool second_goes_first(const Operands& operands) {
    if (operands.first == operands.second) return false;
    const std::string &first = looks_[operands.first], &second = looks_[operands.second];
    if (first != second) return second < first;
    if (ties_ == swaps_.size()) swaps_.push_back(false);
    return swaps_[ties_++];
  }

  const Task& task_;
  const std::vector<std::string>& looks_;
  std::vector<bool>& swaps_;
  std::size_t ties_ = 0;
  std::vector<std::optional<int>> leaf_numbers_, node_numbers_;
  std::string text_;
  int count_ = 0;
};

//! The next way to decide ties, the last one first; false: that was all of them.
bool decide_otherwise(std::vector<bool>& swaps) {
  while (!swaps.empty() && swaps.back()) swaps.pop_back();
  if (swaps.empty()) return false;
  swaps.back() = true;
  return true;
}

}  // namespace

std::string nameless_form(const Task& task) {
  const std::vector<std::string> looks = looks_of(task);
  // Operands that look the same may be used differently elsewhere: of all orders the one with the least text counts.
  std::vector<bool> swaps;
  std::string least = Walk(task, looks, swaps).text();
  while (decide_otherwise(swaps)) least = std::min(least, Walk(task, looks, swaps).text());
  return least;
}

}  // namespace cudal1
