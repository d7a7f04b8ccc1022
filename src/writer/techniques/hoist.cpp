#include "writer/techniques/hoist.hpp"

#include <fmt/format.h>

#include "program/unit_order.hpp"
#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/weights_only.hpp"

namespace cudal1 {
namespace {

std::optional<std::string> objection(const Draft& draft, const Node& node) {
  if (draft.is_hoisted(node.name)) return "it is hoisted already";
  if (is_view_node(draft.graph, node)) return "it is a view, which is no step";
  if (node.outputs.empty()) return "it has no result that could be kept";
  for (const ValueId output : node.outputs)
    if (is_returned(draft.graph, output)) return "every call must return its result";
  return objection_to_preparing(draft, node);
}

}  // namespace

const TechniqueDescription& HoistWeights::description() const {
  static const TechniqueDescription description = {
      "hoist",
      "hoist",
      "Nodes that depend on weights and numbers alone, with all that they are made of, run when the weights change and "
      "not in every call: transposed or scaled weights, positional tables, masks. They can still be fused, apart from "
      "the others.",
      "Always where a module computes something of its weights, or fills tensors with constants, in `forward`.",
      "It takes memory for what is kept.",
      "hoist mul_1 exp_*",
      {}};
  return description;
}

void HoistWeights::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const auto chosen = read_chosen_nodes(cursor, word, draft, [&](const Node& node) { return objection(draft, node); });
  expect_end(cursor, word);
  for (const ChosenNode& name : chosen)
    prepare_value(draft, draft.graph.nodes[draft.graph.find_node(name.name)].outputs[0]);
}

std::vector<std::string> HoistWeights::suggestions(const OpGraph&) const { return {"hoist *"}; }

}  // namespace cudal1
