#include "writer/techniques/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "graph/operator_name.hpp"
#include "program/unit_order.hpp"
#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/linear_maps.hpp"
#include "writer/rewrite/prepared_math.hpp"
#include "writer/rewrite/reductions.hpp"
#include "writer/rewrite/weights_only.hpp"

namespace cudal1 {
namespace {

//! One step of what is done to each channel: times, divided by, plus or minus a number or a tensor.
struct ChannelStep {
  const char* op;  //!< "aten::mul.Tensor" …
  Argument by;

  bool is_shift() const { return base_name(op) == "add" || base_name(op) == "sub"; }
};

class Folding {
 public:
  Folding(Draft& draft, const ChosenNode& folded, const ChosenNode& target)
      : draft_(draft), graph_(draft.graph), folded_(folded), target_(target), math_(draft, target.name) {}

  void run() {
    if (!is_linear_map(target()))
      refuse(fmt::format("{} is {}, no convolution or linear layer", quoted(target_.name), target().op));
    if (is_linear(target()) && meta(weight_of(target())).sizes.size() != 2)
      refuse(fmt::format("its weight is {}, no matrix", to_string(meta(weight_of(target())))));
    check_preparing(weight_of(target()));
    if (const auto bias = bias_of(target())) check_preparing(*bias);
    const auto read = graph_.reads(folded());
    if (folded().outputs.size() != 1 || target().outputs.size() != 1) refuse("each must have one result");
    if (std::ranges::find(read, target().outputs[0]) != read.end())
      fold_behind();
    else if (folded().outputs[0] == input_of(target()))
      fold_before();
    else
      refuse("neither of them reads the other's result");
  }

 private:
  const Node& folded() const { return graph_.nodes[graph_.find_node(folded_.name)]; }
  const Node& target() const { return graph_.nodes[graph_.find_node(target_.name)]; }
  const TensorMeta& meta(ValueId value) const { return graph_.values[value].meta; }

  [[noreturn]] void refuse(const std::string& why) const {
    reject(Status::plan_error, folded_.at,
           fmt::format("{} cannot be folded into {}: {}", quoted(folded_.name), quoted(target_.name), why));
  }

  void check_preparing(ValueId value) const {
    if (const auto reason = objection_to_preparing(draft_, value)) refuse(*reason);
    if (meta(value).dtype != DType::f32)
      refuse(fmt::format("{} is {}; only fp32 weights are folded, others would lose digits",
                         quoted(graph_.values[value].name), to_string(meta(value).dtype)));
  }

  void fold_behind() {
    const ValueId result = target().outputs[0], after = folded().outputs[0];
    if (const auto reduction = linear_reduction(graph_, folded())) return fold_reduction(*reduction);
    const bool is_norm = base_name(folded().op) == "batch_norm";
    if (is_norm) check_inference();
    check_only_reader();
    if (const auto reason = objection_to_alias(graph_, after, result)) refuse(*reason);
    if (const auto reason = objection_of_readers(draft_, after)) refuse(*reason);
    if (is_norm)
      fold_batch_norm();
    else
      apply(pointwise_step(result));
    make_alias(graph_, after, result);
  }

  void check_only_reader() const {
    const ValueId result = target().outputs[0];
    for (const int reader : readers_of(graph_, result))
      if (graph_.nodes[reader].name != folded_.name && !is_unread_alias(graph_, graph_.nodes[reader]))
        refuse(fmt::format("{} reads {}, too", quoted(graph_.nodes[reader].name), quoted(target_.name)));
    if (is_returned(graph_, result)) refuse(fmt::format("the task returns {}, too", quoted(target_.name)));
  }

  //! The sum or mean of all channels is one channel, with the sum or mean of their weights.
  void fold_reduction(const LinearReduction& reduction) {
    const ValueId result = target().outputs[0], after = folded().outputs[0];
    const std::size_t channel = channel_dimension(graph_, target());
    check_only_reader();
    if (graph_.values[result].view || graph_.values[after].view) refuse("its result is a view");
    if (reduction.dimensions != std::set{channel}) refuse("it goes over other dimensions than the channels");
    if (groups_of(target()) > 1) refuse("the channels are in groups");
    if (!meta(result).is_contiguous()) refuse(fmt::format("its result is {}", to_string(meta(result))));
    if (const auto reason = objection_of_readers(draft_, after)) refuse(*reason);
    const char* op = reduction.is_mean ? "aten::mean.dim" : "aten::sum.dim_IntList";
    prepare_value(draft_, weight_of(target()));
    set("weight", 1, math_.reduced(op, "folded_weight", weight_of(target()), output_dimension()));
    if (const auto bias = bias_of(target())) {
      prepare_value(draft_, *bias);
      set("bias", 2, math_.reduced(op, "folded_bias", *bias, 0));
    }
    const LinearReduction kept{result, {channel}, true, reduction.is_mean};
    graph_.values[result].meta = reduced_meta(meta(result), kept);
    if (reduction.keeps_dimensions)
      make_alias(graph_, after, result);
    else
      make_view(graph_, after, result, "aten::squeeze.dim", {static_cast<std::int64_t>(channel)});
  }

  void check_inference() const {
    const bool* training = argument_as<bool>(folded(), 5, "training");
    if (!training || *training) refuse("it is in training: its statistics are those of each batch");
  }

  //! What a node of arithmetic does to `operand`, one of its arguments.
  ChannelStep pointwise_step(ValueId operand) const {
    const Node& node = folded();
    const std::string_view name = base_name(node.op);
    const bool is_product = name == "mul" || name == "multiply", is_sum = name == "add";
    if (!is_product && !is_sum && name != "sub" && name != "div")
      refuse(fmt::format("it is {}, no scale or shift of channels", node.op));
    if (argument_of(node, 2, "alpha") || argument_of(node, 2, "rounding_mode")) refuse("it has further arguments");
    const auto* self = argument_as<ValueRef>(node, 0, "self");
    const bool is_first = self && self->id == operand;
    if (!is_first && !is_product && !is_sum) refuse(fmt::format("{} is not its first argument", quoted(target_.name)));
    const Argument* other = argument_of(node, is_first ? 1 : 0, is_first ? "other" : "self");
    if (!other) refuse("it has one argument only");
    const char* op = is_product      ? "aten::mul.Tensor"
                     : is_sum        ? "aten::add.Tensor"
                     : name == "sub" ? "aten::sub.Tensor"
                                     : "aten::div.Tensor";
    if (const auto* ref = std::get_if<ValueRef>(other); ref && ref->id == operand) refuse("it reads it twice");
    return {op, *other};
  }

  //! A tensor must be one number, or one for each channel.
  void check_channels(ValueId value, std::size_t rank, std::size_t channel, std::int64_t channels) const {
    check_preparing(value);
    const std::vector<std::int64_t>& sizes = meta(value).sizes;
    if (!meta(value).is_contiguous()) refuse(fmt::format("{} is not contiguous", quoted(graph_.values[value].name)));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool is_channel = i + rank == sizes.size() + channel;
      if (sizes[i] != 1 && !(is_channel && sizes[i] == channels))
        refuse(fmt::format("{} is {}, not one number for each of {} channels", quoted(graph_.values[value].name),
                           to_string(meta(value)), channels));
    }
  }

  void apply(const ChannelStep& step) {
    const ValueId result = target().outputs[0];
    const std::size_t channel = channel_dimension(graph_, target());
    if (const auto* by = std::get_if<ValueRef>(&step.by)) {
      check_channels(by->id, meta(result).sizes.size(), channel, meta(result).sizes[channel]);
      prepare_value(draft_, by->id);
    } else if (std::holds_alternative<NoArgument>(step.by) || std::holds_alternative<std::string>(step.by)) {
      refuse("its other argument is neither a tensor nor a number");
    }
    if (!step.is_shift()) scale_weight(step, output_dimension());
    if (step.is_shift() || bias_of(target())) change_bias(step);
  }

  //! Of the weight, along which the result's channels lie.
  std::size_t output_dimension() const {
    if (!is_transposed_convolution(target())) return 0;
    if (groups_of(target()) > 1) refuse("a transposed convolution in groups has its channels in two dimensions");
    return 1;
  }

  void scale_weight(const ChannelStep& step, std::size_t dimension) {
    const ValueId weight = weight_of(target());
    prepare_value(draft_, weight);
    Argument by = step.by;
    if (auto* ref = std::get_if<ValueRef>(&by))
      *ref = {math_.along("scale", ref->id, meta(weight).sizes.size(), dimension)};
    set("weight", 1, math_.binary(step.op, "folded_weight", weight, by));
  }

  void change_bias(const ChannelStep& step) {
    const ValueId result = target().outputs[0];
    ValueId bias = bias_of(target()).value_or(-1);
    if (bias < 0)
      bias = math_.zeros("no_bias", meta(result).dtype, meta(result).sizes[channel_dimension(graph_, target())]);
    prepare_value(draft_, bias);
    Argument by = step.by;
    if (auto* ref = std::get_if<ValueRef>(&by)) *ref = {math_.along("vector", ref->id, 1, 0)};
    set("bias", 2, math_.binary(step.op, "folded_bias", bias, by));
  }

  void set(const char* name, std::size_t position, ValueId value) {
    set_argument(graph_.nodes[graph_.find_node(target_.name)], position, name, ValueRef{value});
  }

  //! (x - mean) / sqrt(variance + eps) · weight + bias
  void fold_batch_norm() {
    const Node node = folded();
    const auto* input = argument_as<ValueRef>(node, 0, "input");
    if (!input || input->id != target().outputs[0]) refuse("it does not normalise its result");
    if (channel_dimension(graph_, target()) != 1) refuse("the channels are in another dimension");
    const ValueId mean = statistic(node, 3, "running_mean"), variance = statistic(node, 4, "running_var");
    const auto* weight = argument_as<ValueRef>(node, 1, "weight");
    const auto* bias = argument_as<ValueRef>(node, 2, "bias");
    if (weight) check_preparing(weight->id);
    if (bias) check_preparing(bias->id);
    const double* eps = argument_as<double>(node, 7, "eps");
    const ValueId shifted = math_.binary("aten::add.Tensor", "variance", variance, Argument{eps ? *eps : 1e-5});
    ValueId scale = math_.unary("aten::rsqrt", "factor", shifted);
    if (weight) scale = math_.binary("aten::mul.Tensor", "factors", scale, ValueRef{weight->id});
    const ValueId offset = math_.binary("aten::mul.Tensor", "mean", scale, ValueRef{mean});
    apply({"aten::mul.Tensor", shaped(scale)});
    apply({"aten::sub.Tensor", shaped(offset)});
    if (bias) apply({"aten::add.Tensor", shaped(bias->id)});
  }

  ValueId statistic(const Node& node, std::size_t position, const char* name) const {
    const auto* value = argument_as<ValueRef>(node, position, name);
    if (!value) refuse(fmt::format("it has no {}", name));
    check_preparing(value->id);
    return value->id;
  }

  //! A vector as it broadcasts along the channels of the target's result.
  ValueRef shaped(ValueId vector) {
    const std::size_t rank = meta(target().outputs[0]).sizes.size();
    return {math_.along("channels", vector, rank - 1, 0)};
  }

  //! linear(x · c) = x · (W · c): the scale of what goes in becomes one of the weight.
  void fold_before() {
    const Node node = folded();
    const auto* self = argument_as<ValueRef>(node, 0, "self");
    if (!self) refuse("its first argument is no tensor");
    if (graph_.values[base_of(graph_, self->id)].kind == ValueKind::state)
      refuse(fmt::format("{} is a state, which may change in between", quoted(graph_.values[self->id].name)));
    const ChannelStep step = pointwise_step(self->id);
    if (step.is_shift()) refuse("it is a shift; only scales are folded into what comes after them");
    if (!lie_alike(meta(self->id), meta(node.outputs[0]))) refuse("it changes the layout or the type of its argument");
    if (const auto* by = std::get_if<ValueRef>(&step.by)) {
      const std::size_t rank = meta(self->id).sizes.size();
      if (!is_linear(target()) && meta(by->id).numel() != 1) refuse("only a single number goes into a convolution");
      check_channels(by->id, rank, rank - 1, meta(self->id).sizes.back());
      prepare_value(draft_, by->id);
    }
    scale_weight(step, 1);
    set("input", 0, self->id);
    remove_if_unread(graph_, node.outputs[0]);
  }

  Draft& draft_;
  OpGraph& graph_;
  const ChosenNode &folded_, &target_;
  PreparedMath math_;
};

}  // namespace

const TechniqueDescription& FoldIntoWeights::description() const {
  static const TechniqueDescription description = {
      "fold",
      "fold",
      "What scales or shifts the channels of a convolution or linear layer, by weights or numbers, goes into its "
      "weight and bias, which are computed anew when weights change: batch normalisation outside training, and mul, "
      "div, add "
      "and sub behind it, a sum or mean over its channels, or a scale before it. The folded node becomes another name "
      "of the result.",
      "Always: a pass through memory less. Batch normalisation in training mode is refused, since its statistics are "
      "those of the batch. A sum or mean over all channels makes a layer with one.",
      "Where the factors differ by many orders of magnitude, the products of the new weights round otherwise.",
      "fold batch_norm_1 into conv2d_1",
      {},
      "NODE into NODE"};
  return description;
}

void FoldIntoWeights::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const auto [folded, target] = read_node_into_node(cursor, word, draft);
  Folding(draft, folded, target).run();
}

std::vector<std::string> FoldIntoWeights::suggestions(const OpGraph& graph) const {
  constexpr std::array<std::string_view, 8> foldable{"batch_norm", "mul", "multiply", "add",
                                                     "sub",        "div", "sum",      "mean"};
  const auto may_be_folded = [&](const Node& node) {
    return std::ranges::find(foldable, base_name(node.op)) != foldable.end() && node.writes_state.empty();
  };
  std::vector<std::string> lines;
  for (const Node& target : graph.nodes) {
    if (!is_linear_map(target) || target.outputs.size() != 1) continue;
    const int after = only_reader(graph, target);
    const bool is_split_off = after >= 0 && graph.nodes[after].name.starts_with(target.name + "_bias");
    if (after >= 0 && !is_split_off && may_be_folded(graph.nodes[after]))
      lines.push_back(fmt::format("fold {} into {}", graph.nodes[after].name, target.name));
    const int before = graph.values[input_of(target)].node;
    if (before >= 0 && may_be_folded(graph.nodes[before]))
      lines.push_back(fmt::format("fold {} into {}", graph.nodes[before].name, target.name));
  }
  return lines;
}

}  // namespace cudal1
