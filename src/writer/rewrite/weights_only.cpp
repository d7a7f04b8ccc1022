#include "writer/rewrite/weights_only.hpp"

#include <fmt/format.h>

#include "graph/random_nodes.hpp"
#include "program/rejection.hpp"
#include "program/unit_order.hpp"
#include "writer/rewrite/graph_edit.hpp"

namespace cudal1 {

std::optional<std::string> objection_to_preparing(const Draft& draft, ValueId value) {
  const ValueId base = base_of(draft.graph, value);
  const Value& made = draft.graph.values[base];
  if (made.kind == ValueKind::weight) return std::nullopt;
  if (made.kind == ValueKind::input) return fmt::format("{} is an input, another one in every call", quoted(made.name));
  if (made.kind == ValueKind::state)
    return fmt::format("{} is a state: calls change it, so nothing is kept of it", quoted(made.name));
  if (made.node < 0) return fmt::format("{} is not computed any more", quoted(made.name));
  const Node& node = draft.graph.nodes[made.node];
  if (draft.is_hoisted(node.name)) return std::nullopt;
  if (const auto by = draft.taken_by(node.name))
    return fmt::format("{} is replaced already, by {}", quoted(node.name), *by);
  if (is_returned(draft.graph, base)) return fmt::format("every call must return {}", quoted(made.name));
  return objection_to_preparing(draft, node);
}

std::optional<std::string> objection_to_preparing(const Draft& draft, const Node& node) {
  if (!node.writes_state.empty()) return fmt::format("{} updates a state", quoted(node.name));
  if (draws_repeatably(node.op)) return fmt::format("{} draws random numbers", quoted(node.name));
  for (const ValueId read : draft.graph.reads(node))
    if (auto reason = objection_to_preparing(draft, read)) return reason;
  return std::nullopt;
}

void prepare_value(Draft& draft, ValueId value) {
  const int index = draft.graph.values[base_of(draft.graph, value)].node;
  if (index < 0 || draft.is_hoisted(draft.graph.nodes[index].name)) return;
  draft.hoist(draft.graph.nodes[index].name);
  for (const ValueId read : draft.graph.reads(draft.graph.nodes[index])) prepare_value(draft, read);
}

}  // namespace cudal1
