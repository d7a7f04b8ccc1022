#include "writer/rewrite/graph_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "program/rejection.hpp"
#include "program/unit_order.hpp"

namespace cudal1 {
namespace {

void shift_producers(OpGraph& graph, int from, int by) {
  for (Value& value : graph.values)
    if (value.node >= from) value.node += by;
}

ValueId add_output(OpGraph& graph, const Node& node, int index, std::size_t output, const TensorMeta& meta) {
  Value value;
  value.name = output == 0 ? node.name : fmt::format("{}[{}]", node.name, output);
  value.meta = meta;
  value.node = index;
  value.output = static_cast<int>(output);
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size()) - 1;
}

//! Views lie at so many elements of their own dtype.
void rebase_views(OpGraph& graph, ValueId from, ValueId base, std::int64_t offset_bytes) {
  for (Value& value : graph.values)
    if (value.view && value.view->base == from)
      value.view = ViewOf{base, value.view->offset_elements + offset_bytes / size_in_bytes(value.meta.dtype)};
}

bool reads(const OpGraph& graph, const Node& node, ValueId value) {
  const std::vector<ValueId> read = graph.reads(node);
  return std::ranges::find(read, value) != read.end();
}

bool is_needed(const OpGraph& graph, const Node& node) {
  if (!node.writes_state.empty()) return true;
  return std::ranges::any_of(node.outputs, [&](ValueId output) {
    return std::ranges::find(graph.outputs, output) != graph.outputs.end() || !readers_of(graph, output).empty() ||
           std::ranges::any_of(graph.values, [&](const Value& other) {
             return other.node >= 0 && other.view && other.view->base == output &&
                    std::ranges::find(node.outputs, &other - graph.values.data()) == node.outputs.end();
           });
  });
}

void erase_node(OpGraph& graph, int index) {
  for (const ValueId output : graph.nodes[index].outputs) graph.values[output].node = -1;
  graph.nodes.erase(graph.nodes.begin() + index);
  shift_producers(graph, index, -1);
}

}  // namespace

std::string derived_name(const OpGraph& graph, const std::string& node, std::string_view suffix) {
  const std::string wish = fmt::format("{}_{}", node, suffix);
  std::string name = wish;
  for (int i = 2; graph.find_node(name) >= 0 || graph.find_value(name) >= 0; ++i) name = fmt::format("{}_{}", wish, i);
  return name;
}

ValueId insert_node(OpGraph& graph, int position, Node node, const std::vector<TensorMeta>& metas) {
  shift_producers(graph, position, 1);
  for (std::size_t i = 0; i < metas.size(); ++i) node.outputs.push_back(add_output(graph, node, position, i, metas[i]));
  const ValueId first = node.outputs.front();
  graph.nodes.insert(graph.nodes.begin() + position, std::move(node));
  return first;
}

ValueId insert_view(OpGraph& graph, int position, Node node, const TensorMeta& meta, ValueId of,
                    std::int64_t offset_elements) {
  const ValueId view = insert_node(graph, position, std::move(node), {meta});
  graph.values[view].view = ViewOf{base_of(graph, of), offset_in_base(graph, of) + offset_elements};
  return view;
}

void redirect_readers(OpGraph& graph, ValueId from, ValueId to, int except) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (static_cast<int>(i) != except)
      for_each_reference(graph.nodes[i], [&](ValueId& id) { id = id == from ? to : id; });
  std::ranges::replace(graph.outputs, from, to);
  rebase_views(graph, from, base_of(graph, to), offset_in_base(graph, to) * size_in_bytes(graph.values[to].meta.dtype));
}

void make_alias(OpGraph& graph, ValueId value, ValueId target) {
  make_view(graph, value, target, "aten::alias", {});
  for (Node& reader : graph.nodes) for_each_reference(reader, [&](ValueId& id) { id = id == value ? target : id; });
}

void make_view(OpGraph& graph, ValueId value, ValueId target, std::string op, std::vector<Argument> arguments) {
  const ValueId base = base_of(graph, target);
  const std::int64_t offset = offset_in_base(graph, target);
  rebase_views(graph, value, base, offset * size_in_bytes(graph.values[target].meta.dtype));
  graph.values[value].view = ViewOf{base, offset};
  Node& node = graph.nodes[graph.values[value].node];
  const std::vector<ValueId> read = graph.reads(node);
  node.op = std::move(op);
  node.args = {ValueRef{target}};
  for (Argument& argument : arguments) node.args.push_back(std::move(argument));
  node.kwargs.clear();
  for (const ValueId argument : read) remove_if_unread(graph, argument);
}

void move_node_up(OpGraph& graph, int from, int to) {
  std::rotate(graph.nodes.begin() + to, graph.nodes.begin() + from, graph.nodes.begin() + from + 1);
  for (int i = to; i <= from; ++i)
    for (const ValueId output : graph.nodes[i].outputs) graph.values[output].node = i;
}

void restore_order(OpGraph& graph) {
  const auto late_producer = [&](int index) {
    for (const ValueId read : graph.reads(graph.nodes[index]))
      if (graph.values[read].node > index) return graph.values[read].node;
    return -1;
  };
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i)
    for (int late = late_producer(i); late >= 0; late = late_producer(i)) move_node_up(graph, late, i);
}

bool lie_alike(const TensorMeta& a, const TensorMeta& b) {
  if (a.dtype != b.dtype || a.sizes != b.sizes) return false;
  for (std::size_t i = 0; i < a.sizes.size(); ++i)
    if (a.sizes[i] > 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

//! Results of the task are apart from each other and from what the caller gave, as they are in PyTorch.
std::optional<std::string> objection_to_alias(const OpGraph& graph, ValueId value, ValueId target) {
  const Value &made = graph.values[value], &given = graph.values[target];
  if (made.view) return "it is a view already, and costs nothing";
  if (!graph.nodes[made.node].writes_state.empty()) return "it updates a state";
  if (!lie_alike(made.meta, given.meta))
    return fmt::format("it makes {} of {}, which is no identity", to_string(made.meta), to_string(given.meta));
  if (graph.values[base_of(graph, target)].kind == ValueKind::state)
    return fmt::format("{} is a state, which may change before the result is read", quoted(given.name));
  if (!is_returned(graph, value)) return std::nullopt;
  if (given.kind != ValueKind::node_output || given.view || is_returned(graph, target))
    return fmt::format("the task returns it, so it needs memory of its own beside {}", quoted(given.name));
  return std::nullopt;
}

void remove_if_unread(OpGraph& graph, ValueId value) {
  const int index = graph.values[value].node;
  if (index < 0 || is_needed(graph, graph.nodes[index])) return;
  const std::vector<ValueId> read = graph.reads(graph.nodes[index]);
  erase_node(graph, index);
  for (const ValueId argument : read) remove_if_unread(graph, argument);
}

std::int64_t offset_in_base(const OpGraph& graph, ValueId value) {
  const auto& view = graph.values[value].view;
  return view ? view->offset_elements : 0;
}

std::vector<int> readers_of(const OpGraph& graph, ValueId value) {
  std::vector<int> readers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (reads(graph, graph.nodes[i], value)) readers.push_back(static_cast<int>(i));
  return readers;
}

bool is_unread_alias(const OpGraph& graph, const Node& node) {
  return node.op == "aten::alias" && readers_of(graph, node.outputs[0]).empty();
}

int only_reader(const OpGraph& graph, const Node& node) {
  if (node.outputs.size() != 1) return -1;
  std::vector<int> readers = readers_of(graph, node.outputs[0]);
  std::erase_if(readers, [&](int reader) { return is_unread_alias(graph, graph.nodes[reader]); });
  return readers.size() == 1 ? readers[0] : -1;
}

std::vector<int> readers_of_memory(const OpGraph& graph, ValueId value) {
  const ValueId base = base_of(graph, value);
  std::vector<int> readers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_view_node(graph, graph.nodes[i])) continue;
    const std::vector<ValueId> read = graph.reads(graph.nodes[i]);
    if (std::ranges::any_of(read, [&](ValueId id) { return base_of(graph, id) == base; }))
      readers.push_back(static_cast<int>(i));
  }
  return readers;
}

bool is_returned(const OpGraph& graph, ValueId value) {
  const ValueId base = base_of(graph, value);
  return std::ranges::any_of(graph.outputs, [&](ValueId id) { return base_of(graph, id) == base; });
}

void for_each_reference(Node& node, const std::function<void(ValueId&)>& change) {
  const auto change_argument = [&](Argument& argument) {
    if (auto* single = std::get_if<ValueRef>(&argument)) change(single->id);
    if (auto* list = std::get_if<ValueList>(&argument))
      for (ValueRef& element : *list)
        if (element.id >= 0) change(element.id);
  };
  for (Argument& argument : node.args) change_argument(argument);
  for (auto& [name, argument] : node.kwargs) change_argument(argument);
}

void set_argument(Node& node, std::size_t position, const std::string& name, Argument argument) {
  if (position < node.args.size()) {
    node.args[position] = std::move(argument);
    return;
  }
  for (auto& [key, given] : node.kwargs) {
    if (key != name) continue;
    given = std::move(argument);
    return;
  }
  node.kwargs.emplace_back(name, std::move(argument));
}

}  // namespace cudal1
