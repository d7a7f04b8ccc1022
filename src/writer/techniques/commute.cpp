#include "writer/techniques/commute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/operator_name.hpp"
#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/linear_maps.hpp"
#include "writer/rewrite/prepared_math.hpp"
#include "writer/rewrite/reductions.hpp"
#include "writer/rewrite/weights_only.hpp"

namespace cudal1 {
namespace {

double elements_over(const TensorMeta& meta, const LinearReduction& reduction) {
  double elements = 1.0;
  for (const std::size_t dimension : reduction.dimensions) elements *= static_cast<double>(meta.sizes[dimension]);
  return elements;
}

bool is_zero(const Argument* argument) {
  if (!argument || std::holds_alternative<NoArgument>(*argument)) return true;
  if (const auto* single = std::get_if<std::int64_t>(argument)) return *single == 0;
  const auto* list = std::get_if<std::vector<std::int64_t>>(argument);
  return list && std::ranges::all_of(*list, [](std::int64_t element) { return element == 0; });
}

class Commuting {
 public:
  Commuting(Draft& draft, const ChosenNode& reduction, const ChosenNode& map)
      : draft_(draft), graph_(draft.graph), reduction_(reduction), map_(map), math_(draft, map.name) {}

  void run() {
    LinearReduction reduction = checked();
    if (!reduction.is_mean) multiply_bias(reduction);
    const bool is_spread = is_convolution(node(map_));
    if (is_spread) make_linear(reduction);
    const bool view_behind = is_spread && reduction.keeps_dimensions;
    if (is_spread) reduction.keeps_dimensions = false;
    exchange(reduction, view_behind);
  }

 private:
  Node& node(const ChosenNode& chosen) { return graph_.nodes[graph_.find_node(chosen.name)]; }
  const TensorMeta& meta(ValueId value) const { return graph_.values[value].meta; }

  [[noreturn]] void refuse(const std::string& why) const {
    reject(Status::plan_error, reduction_.at,
           fmt::format("{} does not commute with {}: {}", quoted(reduction_.name), quoted(map_.name), why));
  }

  LinearReduction checked() {
    const auto reduction = linear_reduction(graph_, node(reduction_));
    if (!reduction) refuse(fmt::format("{} is no sum or mean over given dimensions", node(reduction_).op));
    if (!is_linear_map(node(map_))) refuse(fmt::format("{} is no linear layer or convolution", node(map_).op));
    const ValueId between = node(map_).outputs[0], result = node(reduction_).outputs[0];
    if (reduction->argument != between) refuse("it does not read its result");
    if (reduction->dimensions.contains(channel_dimension(graph_, node(map_))))
      refuse("it goes over the features that the layer makes; 'fold' puts that into the weight");
    if (is_linear(node(map_)) && meta(weight_of(node(map_))).sizes.size() != 2)
      refuse(fmt::format("its weight is {}, no matrix", to_string(meta(weight_of(node(map_))))));
    if (only_reader(graph_, node(map_)) < 0 || is_returned(graph_, between))
      refuse(fmt::format("{} is needed for more than that", quoted(map_.name)));
    if (size_in_bytes(meta(result).dtype) < 4)
      refuse(fmt::format("{} would be rounded at another place", to_string(meta(result).dtype)));
    if (graph_.values[result].view || graph_.values[between].view) refuse("one of their results is a view");
    if (const auto reason = objection_of_readers(draft_, result)) refuse(*reason);
    if (draft_.is_hoisted(map_.name) != draft_.is_hoisted(reduction_.name)) refuse("one of them is hoisted");
    if (is_convolution(node(map_))) check_spread(*reduction);
    return *reduction;
  }

  //! A transposed convolution that cuts nothing off puts each element, times the whole kernel, into its result.
  void check_spread(const LinearReduction& reduction) {
    const Node& convolution = node(map_);
    const bool general = base_name(convolution.op) == "convolution";
    if (!is_transposed_convolution(convolution))
      refuse("a convolution uses the elements at the border less often than the others");
    if (!is_zero(argument_of(convolution, 4, "padding"))) refuse("its padding cuts parts of the result off");
    if (groups_of(convolution) != 1) refuse("its channels are in groups");
    if (general && argument_as<std::string>(convolution, 4, "padding")) refuse("its padding has a name");
    if (reduction.dimensions.size() + 2 != meta(convolution.outputs[0]).sizes.size() ||
        reduction.dimensions.contains(0))
      refuse("it does not go over all dimensions of the image");
    const ValueId weight = weight_of(convolution);
    if (const auto reason = objection_to_preparing(draft_, weight)) refuse(*reason);
    if (meta(weight).dtype != DType::f32) refuse("only fp32 weights are summed, others would lose digits");
  }

  //! Each of the elements that are added has brought it once.
  void multiply_bias(const LinearReduction& reduction) {
    const auto bias = bias_of(node(map_));
    if (!bias) return;
    if (const auto reason = objection_to_preparing(draft_, *bias)) refuse(*reason);
    prepare_value(draft_, *bias);
    const double elements = elements_over(meta(node(map_).outputs[0]), reduction);
    const ValueId scaled = math_.binary("aten::mul.Tensor", "summed_bias", *bias, Argument{elements});
    set_argument(node(map_), 2, "bias", ValueRef{scaled});
  }

  //! Of the convolution, on what is left of an image: one number for each channel.
  void make_linear(const LinearReduction& reduction) {
    const ValueId weight = weight_of(node(map_));
    prepare_value(draft_, weight);
    ValueId summed = math_.summed_from("summed_weight", weight, 2);  // (channels in, channels out)
    const double fewer =
        elements_over(meta(input_of(node(map_))), reduction) / elements_over(meta(node(map_).outputs[0]), reduction);
    if (reduction.is_mean) summed = math_.binary("aten::mul.Tensor", "summed_weight", summed, Argument{fewer});
    const ValueId turned = math_.transposed("turned_weight", summed);
    Node& made = node(map_);
    const auto bias = bias_of(made);
    made.op = "aten::linear";
    made.args = {ValueRef{input_of(made)}, ValueRef{turned}, NoArgument{}};
    made.kwargs.clear();
    if (bias) made.args.back() = ValueRef{*bias};
  }

  //! The reduction before the map; whoever read its result reads that of the map.
  void exchange(const LinearReduction& reduction, bool view_behind) {
    const ValueId before = input_of(node(map_)), between = node(map_).outputs[0];
    const ValueId result = node(reduction_).outputs[0];
    TensorMeta final_meta = meta(result);
    if (view_behind) final_meta.sizes.resize(2);
    if (view_behind) final_meta.strides = contiguous_strides(final_meta.sizes);
    const TensorMeta seen = meta(result);
    graph_.values[between].meta = final_meta;
    graph_.values[result].meta = reduced_meta(meta(before), reduction);
    Node& first = node(reduction_);
    first.op = reduction.is_mean ? "aten::mean.dim" : "aten::sum.dim_IntList";
    first.args = {ValueRef{before}, std::vector<std::int64_t>(reduction.dimensions.begin(), reduction.dimensions.end()),
                  reduction.keeps_dimensions};
    first.kwargs.clear();
    set_argument(node(map_), 0, "input", ValueRef{result});
    move_node_up(graph_, graph_.find_node(reduction_.name), graph_.find_node(map_.name));
    const ValueId last = view_behind ? viewed(between, seen) : between;
    redirect_readers(graph_, result, last, graph_.find_node(map_.name));
  }

  //! With the dimensions that the reduction has kept.
  ValueId viewed(ValueId value, const TensorMeta& as) {
    Node view;
    view.name = derived_name(graph_, map_.name, "kept");
    view.op = "aten::view";
    view.args = {ValueRef{value}, as.sizes};
    TensorMeta made{as.dtype, as.sizes, contiguous_strides(as.sizes)};
    return insert_view(graph_, graph_.find_node(map_.name) + 1, std::move(view), made, value);
  }

  Draft& draft_;
  OpGraph& graph_;
  const ChosenNode &reduction_, &map_;
  PreparedMath math_;
};

}  // namespace

const TechniqueDescription& CommuteReduction::description() const {
  static const TechniqueDescription description = {
      "commute",
      "commute",
      "A sum or mean behind a linear layer, over other dimensions than its features, is taken before it, of what goes "
      "in: the layer then has fewer rows. Behind a transposed convolution without padding a sum or mean over the whole "
      "image becomes one over what goes in, and the convolution a linear layer with the sums of its kernels. The "
      "result has the name of the layer, what goes into it that of the reduction.",
      "Pooling over a sequence behind a projection, or over the image behind a transposed convolution: the work "
      "shrinks by the number of elements that are pooled.",
      "Where the layer has far more features going in than coming out, the reduction has more to read.",
      "commute mean_1 linear_1",
      {},
      "NODE NODE"};
  return description;
}

void CommuteReduction::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const ChosenNode reduction = read_chosen_node(cursor, word, draft);
  const ChosenNode map = read_chosen_node(cursor, word, draft);
  expect_end(cursor, word);
  Commuting(draft, reduction, map).run();
}

std::vector<std::string> CommuteReduction::suggestions(const OpGraph& graph) const {
  std::vector<std::string> lines;
  for (const Node& map : graph.nodes) {
    const int reader = is_linear_map(map) ? only_reader(graph, map) : -1;
    if (reader < 0) continue;
    const std::string_view name = base_name(graph.nodes[reader].op);
    if (name == "mean" || name == "sum" || name.starts_with("adaptive_avg_pool"))
      lines.push_back(fmt::format("commute {} {}", graph.nodes[reader].name, map.name));
  }
  return lines;
}

}  // namespace cudal1
