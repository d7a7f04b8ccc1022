#include "writer/techniques/drop.hpp"

#include <fmt/format.h>

#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/identities.hpp"

namespace cudal1 {
namespace {

std::optional<std::string> objection(const Draft& draft, const Node& node) {
  const auto argument = same_elements_as(draft.graph, node);
  if (!argument || node.outputs.size() != 1) return fmt::format("that {} changes nothing here is not proven", node.op);
  if (const auto reason = objection_of_readers(draft, node.outputs[0])) return reason;
  return objection_to_alias(draft.graph, node.outputs[0], *argument);
}

}  // namespace

const TechniqueDescription& DropIdentities::description() const {
  static const TechniqueDescription description = {
      "drop",
      "drop",
      "Nodes that give back what they are given become other names of it and are not run: dropout that drops nothing, "
      "copies into the layout that is there already, arithmetic with a neutral number, padding by nothing, relu of "
      "what is never negative.",
      "Each such node is a launch and a pass through memory.",
      "Never; what is not provably an identity is refused.",
      "drop mul_1 relu_2",
      {}};
  return description;
}

void DropIdentities::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const auto chosen = read_chosen_nodes(cursor, word, draft, [&](const Node& node) { return objection(draft, node); });
  expect_end(cursor, word);
  for (const ChosenNode& name : chosen) {
    const int index = draft.graph.find_node(name.name);
    if (index < 0) continue;  // only another one of these has read it
    const Node& node = draft.graph.nodes[index];
    // Again: another one of these may return the same memory by now.
    if (const auto reason = objection(draft, node)) {
      if (name.by_pattern) continue;
      reject(Status::plan_error, name.at, fmt::format("{} is not for 'drop': {}", quoted(node.name), *reason));
    }
    const ValueId argument = *same_elements_as(draft.graph, node);
    make_alias(draft.graph, node.outputs[0], argument);
  }
}

std::vector<std::string> DropIdentities::suggestions(const OpGraph&) const { return {"drop *"}; }

}  // namespace cudal1
