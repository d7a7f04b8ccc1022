#include "writer/techniques/merge.hpp"

#include <fmt/format.h>

#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/linear_maps.hpp"
#include "writer/rewrite/prepared_math.hpp"
#include "writer/rewrite/weights_only.hpp"

namespace cudal1 {
namespace {

class Merging {
 public:
  Merging(Draft& draft, const ChosenNode& second, const ChosenNode& first)
      : draft_(draft), graph_(draft.graph), second_(second), first_(first), math_(draft, first.name) {}

  void run() {
    check_nodes();
    check_cost();
    const Node second = node(second_);
    const ValueId weight = math_.product("merged_weight", weight_of(second), weight_of(node(first_)));
    const auto bias = merged_bias(second);
    Node& first = graph_.nodes[graph_.find_node(first_.name)];
    set_argument(first, 1, "weight", ValueRef{weight});
    if (bias) set_argument(first, 2, "bias", ValueRef{*bias});
    graph_.values[first.outputs[0]].meta = meta(second.outputs[0]);
    make_alias(graph_, second.outputs[0], first.outputs[0]);
  }

 private:
  const Node& node(const ChosenNode& chosen) const { return graph_.nodes[graph_.find_node(chosen.name)]; }
  const TensorMeta& meta(ValueId value) const { return graph_.values[value].meta; }

  [[noreturn]] void refuse(const std::string& why) const {
    reject(Status::plan_error, second_.at,
           fmt::format("{} cannot be merged into {}: {}", quoted(second_.name), quoted(first_.name), why));
  }

  void check_nodes() {
    for (const ChosenNode* chosen : {&first_, &second_})
      if (!is_linear(node(*chosen)))
        refuse(fmt::format("{} is {}, not aten::linear", quoted(chosen->name), node(*chosen).op));
    const ValueId between = node(first_).outputs[0], result = node(second_).outputs[0];
    if (input_of(node(second_)) != between)
      refuse(fmt::format("{} does not read the result of {}", quoted(second_.name), quoted(first_.name)));
    if (readers_of_memory(graph_, between).size() != 1 || only_reader(graph_, node(first_)) < 0 ||
        is_returned(graph_, between))
      refuse(fmt::format("{} is needed for more than that", quoted(first_.name)));
    if (graph_.values[result].view || !meta(result).is_contiguous()) refuse("its result is a view");
    if (const auto reason = objection_of_readers(draft_, result)) refuse(*reason);
    for (const ChosenNode* chosen : {&first_, &second_}) {
      check_weight(weight_of(node(*chosen)), 2);
      if (const auto bias = bias_of(node(*chosen))) check_weight(*bias, 1);
    }
  }

  void check_weight(ValueId value, std::size_t rank) {
    if (const auto reason = objection_to_preparing(draft_, value)) refuse(*reason);
    if (meta(value).dtype != DType::f32 || meta(value).sizes.size() != rank)
      refuse(fmt::format("{} is {}; only fp32 weights are merged", quoted(graph_.values[value].name),
                         to_string(meta(value))));
    prepare_value(draft_, value);
  }

  //! Multiplications for each row.
  void check_cost() const {
    const std::int64_t out = meta(weight_of(node(second_))).sizes[0], between = meta(weight_of(node(second_))).sizes[1];
    const std::int64_t in = meta(weight_of(node(first_))).sizes[1];
    if (out * in > between * (out + in))
      refuse(fmt::format("one layer from {} to {} costs more than two through {}", in, out, between));
  }

  //! second(first's bias) + second's own
  std::optional<ValueId> merged_bias(const Node& second) {
    const auto first_bias = bias_of(node(first_)), second_bias = bias_of(second);
    if (!first_bias) return second_bias;
    const ValueId through = math_.product("merged_bias", weight_of(second), *first_bias);
    return second_bias ? math_.binary("aten::add.Tensor", "merged_bias", through, ValueRef{*second_bias}) : through;
  }

  Draft& draft_;
  OpGraph& graph_;
  const ChosenNode &second_, &first_;
  PreparedMath math_;
};

}  // namespace

const TechniqueDescription& MergeLinearMaps::description() const {
  static const TechniqueDescription description = {
      "merge",
      "merge",
      "A linear layer right behind another becomes one with it: the product of their weights is computed when weights "
      "change. The second node becomes another name of the first one's result.",
      "Two layers without anything between them, the inner size not far below the outer ones.",
      "Where the inner size is small the two are cheaper, which is refused. The sums are rounded otherwise.",
      "merge linear_2 into linear_1",
      {},
      "NODE into NODE"};
  return description;
}

void MergeLinearMaps::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const auto [second, first] = read_node_into_node(cursor, word, draft);
  Merging(draft, second, first).run();
}

std::vector<std::string> MergeLinearMaps::suggestions(const OpGraph& graph) const {
  std::vector<std::string> lines;
  for (const Node& first : graph.nodes) {
    const int reader = is_linear(first) ? only_reader(graph, first) : -1;
    if (reader >= 0 && is_linear(graph.nodes[reader]))
      lines.push_back(fmt::format("merge {} into {}", graph.nodes[reader].name, first.name));
  }
  return lines;
}

}  // namespace cudal1
