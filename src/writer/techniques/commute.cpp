#include "writer/techniques/commute.hpp"

#include <fmt/format.h>

#include "graph/operator_name.hpp"
#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/linear_maps.hpp"
#include "writer/rewrite/prepared_math.hpp"
#include "writer/rewrite/reductions.hpp"
#include "writer/rewrite/weights_only.hpp"

namespace cudal1 {
namespace {

class Commuting {
 public:
  Commuting(Draft& draft, const ChosenNode& reduction, const ChosenNode& linear)
      : draft_(draft), graph_(draft.graph), reduction_(reduction), linear_(linear) {}

  void run() {
    const LinearReduction reduction = checked();
    const ValueId before = input_of(node(linear_)), between = node(linear_).outputs[0];
    const ValueId result = node(reduction_).outputs[0];
    if (!reduction.is_mean) multiply_bias(reduction, before);
    graph_.values[between].meta = graph_.values[result].meta;
    graph_.values[result].meta = reduced_meta(graph_.values[before].meta, reduction);
    set_argument(node(reduction_), 0, "self", ValueRef{before});
    set_argument(node(linear_), 0, "input", ValueRef{result});
    move_node_up(graph_, graph_.find_node(reduction_.name), graph_.find_node(linear_.name));
    redirect_readers(graph_, result, between, graph_.find_node(linear_.name));
  }

 private:
  Node& node(const ChosenNode& chosen) { return graph_.nodes[graph_.find_node(chosen.name)]; }

  [[noreturn]] void refuse(const std::string& why) const {
    reject(Status::plan_error, reduction_.at,
           fmt::format("{} does not commute with {}: {}", quoted(reduction_.name), quoted(linear_.name), why));
  }

  LinearReduction checked() {
    const auto reduction = linear_reduction(graph_, node(reduction_));
    if (!reduction) refuse(fmt::format("{} is no sum or mean over given dimensions", node(reduction_).op));
    if (!is_linear(node(linear_))) refuse(fmt::format("{} is not aten::linear", node(linear_).op));
    const ValueId between = node(linear_).outputs[0], result = node(reduction_).outputs[0];
    if (reduction->argument != between) refuse("it does not read its result");
    if (reduction->dimensions.contains(graph_.values[between].meta.sizes.size() - 1))
      refuse("it goes over the features that the layer makes; 'fold' puts that into the weight");
    if (readers_of(graph_, between).size() != 1 || is_returned(graph_, between))
      refuse(fmt::format("{} is needed for more than that", quoted(linear_.name)));
    if (graph_.values[result].view || graph_.values[between].view) refuse("one of their results is a view");
    if (const auto reason = objection_of_readers(draft_, result)) refuse(*reason);
    if (draft_.is_hoisted(linear_.name) != draft_.is_hoisted(reduction_.name)) refuse("one of them is hoisted");
    return *reduction;
  }

  //! Each of the rows that are added has brought it once.
  void multiply_bias(const LinearReduction& reduction, ValueId before) {
    const auto bias = bias_of(node(linear_));
    if (!bias) return;
    if (const auto reason = objection_to_preparing(draft_, *bias)) refuse(*reason);
    prepare_value(draft_, *bias);
    double rows = 1.0;
    for (const std::size_t dimension : reduction.dimensions)
      rows *= static_cast<double>(graph_.values[before].meta.sizes[dimension]);
    PreparedMath math(draft_, linear_.name);
    const ValueId scaled = math.binary("aten::mul.Tensor", "summed_bias", *bias, Argument{rows});
    set_argument(node(linear_), 2, "bias", ValueRef{scaled});
  }

  Draft& draft_;
  OpGraph& graph_;
  const ChosenNode &reduction_, &linear_;
};

}  // namespace

const TechniqueDescription& CommuteReduction::description() const {
  static const TechniqueDescription description = {
      "commute",
      "commute",
      "A sum or mean over rows behind a linear layer is taken before it, of what goes in: the layer then has as many "
      "rows less. The result is that of the layer; the reduction's name is that of what goes in.",
      "Pooling over a sequence behind a projection: the matrix product shrinks by the length of the sequence.",
      "Where the layer has far more features going in than coming out, the reduction has more to read.",
      "commute mean_1 linear_1",
      {}};
  return description;
}

void CommuteReduction::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const ChosenNode reduction = read_chosen_node(cursor, word, draft);
  const ChosenNode linear = read_chosen_node(cursor, word, draft);
  expect_end(cursor, word);
  Commuting(draft, reduction, linear).run();
}

std::vector<std::string> CommuteReduction::suggestions(const OpGraph& graph) const {
  std::vector<std::string> lines;
  for (const Node& linear : graph.nodes) {
    const int reader = is_linear(linear) ? only_reader(graph, linear) : -1;
    if (reader < 0) continue;
    const std::string_view name = base_name(graph.nodes[reader].op);
    if (name == "mean" || name == "sum") lines.push_back(fmt::format("commute {} {}", graph.nodes[reader].name, linear.name));
  }
  return lines;
}

}  // namespace cudal1
