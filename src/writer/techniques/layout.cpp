#include "writer/techniques/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "graph/operator_name.hpp"
#include "writer/fused/operator_rules.hpp"
#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/linear_maps.hpp"
#include "writer/rewrite/prepared_math.hpp"
#include "writer/rewrite/weights_only.hpp"

namespace cudal1 {
namespace {

constexpr std::string_view format = "channels_last";

//! (N, C, spatial…) with C innermost.
std::vector<std::int64_t> channels_last_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  std::int64_t step = sizes[1];
  for (std::size_t d = sizes.size(); d-- > 2;) {
    strides[d] = step;
    step *= sizes[d];
  }
  strides[0] = step;
  return strides;
}

TensorMeta in_channels_last(TensorMeta meta) {
  meta.strides = channels_last_strides(meta.sizes);
  return meta;
}

bool is_image(const TensorMeta& meta) { return meta.sizes.size() == 4 || meta.sizes.size() == 5; }

bool is_channels_last(const TensorMeta& meta) { return is_image(meta) && lie_alike(meta, in_channels_last(meta)); }

const char* memory_format(const TensorMeta& meta) {
  return meta.sizes.size() == 4 ? "channels_last" : "channels_last_3d";
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

//! Pointwise nodes whose result has a layout of its own.
bool chooses_layout(const Node& node) {
  return is_one_of(base_name(node.op), {"contiguous", "tril", "triu"}) ||
         std::ranges::any_of(node.kwargs, [](const auto& argument) { return argument.first == "memory_format"; });
}

//! Operators of the library that give back the layout they are given.
bool keeps_layout(const Node& node) {
  if (is_one_of(base_name(node.op), {"batch_norm", "max_pool2d", "avg_pool2d"})) return true;
  return is_pointwise(node) && !chooses_layout(node);
}

std::optional<std::string> objection(const Draft& draft, const Node& node) {
  const OpGraph& graph = draft.graph;
  if (node.outputs.size() != 1 || graph.values[node.outputs[0]].view) return "its result is a view";
  const TensorMeta& meta = graph.values[node.outputs[0]].meta;
  if (!is_image(meta)) return fmt::format("its result is {}, not (N, C, H, W) or (N, C, D, H, W)", to_string(meta));
  if (is_channels_last(meta)) return "its result is channels_last already, or has one channel or one pixel";
  if (!meta.is_contiguous()) return fmt::format("its result is {}", to_string(meta));
  if (meta.numel() == 0) return "its result is empty";
  if (draft.is_hoisted(node.name)) return "it is hoisted";
  if (!is_convolution(node) && !keeps_layout(node))
    return fmt::format("that {} keeps channels_last is not known", node.op);
  return objection_of_readers(draft, node.outputs[0]);
}

class Conversion {
 public:
  explicit Conversion(Draft& draft) : draft_(draft), graph_(draft.graph) {}

  void run(std::vector<ChosenNode> chosen) {
    std::ranges::sort(chosen, {}, [&](const ChosenNode& node) { return graph_.find_node(node.name); });
    for (const ChosenNode& node : chosen)
      if (can_stay(node)) convert(node);
    for (const ValueId value : back_) remove_if_unread(graph_, value);
  }

 private:
  Node& node(const std::string& name) { return graph_.nodes[graph_.find_node(name)]; }
  const TensorMeta& meta(ValueId value) const { return graph_.values[value].meta; }

  void convert(const ChosenNode& chosen) {
    const std::string& name = chosen.name;
    const ValueId result = node(name).outputs[0];
    if (is_convolution(node(name))) {
      convert_input(name, input_of(node(name)));
      convert_weight(name);
    } else {
      convert_inputs(name);
    }
    graph_.values[result].meta = in_channels_last(meta(result));
    add_way_back(name, result);
  }

  //! A convolution can begin it; without something that is channels_last already there is nothing to stay in.
  bool can_stay(const ChosenNode& chosen) {
    if (is_convolution(node(chosen.name))) return true;
    for (const ValueId value : graph_.reads(node(chosen.name)))
      if (is_channels_last(meta(source_of(value)))) return true;
    if (chosen.by_pattern) return false;
    reject(Status::plan_error, chosen.at,
           fmt::format("{} is not for 'layout': nothing that it reads is channels_last; name the convolution before "
                       "it, too",
                       quoted(chosen.name)));
  }

  //! Every tensor of the result's rank; those that broadcast may lie as they like.
  void convert_inputs(const std::string& name) {
    const std::size_t rank = meta(node(name).outputs[0]).sizes.size();
    for (const ValueId value : graph_.reads(node(name)))
      if (meta(value).sizes.size() == rank && !is_broadcast(name, value)) convert_input(name, value);
  }

  bool is_broadcast(const std::string& name, ValueId value) {
    const Node& reader = node(name);
    return is_pointwise(reader) && meta(value).sizes != meta(reader.outputs[0]).sizes;
  }

  //! What a way back from channels_last was made of; else the value itself.
  ValueId source_of(ValueId value) const {
    const int index = graph_.values[value].node;
    if (index < 0 || graph_.nodes[index].op != "aten::clone" || !graph_.nodes[index].name.ends_with("_contiguous"))
      return value;
    const ValueId source = std::get<ValueRef>(graph_.nodes[index].args[0]).id;
    return is_channels_last(meta(source)) ? source : value;
  }

  void convert_input(const std::string& name, ValueId value) {
    const ValueId source = source_of(value);
    replace(name, value, is_channels_last(meta(source)) ? source : converted(name, value));
  }

  void replace(const std::string& name, ValueId from, ValueId to) {
    for_each_reference(node(name), [&](ValueId& id) { id = id == from ? to : id; });
  }

  //! A copy; the one that another node has made already, if there is one above.
  ValueId converted(const std::string& name, ValueId value) {
    for (const auto& [from, to] : copies_)
      if (from == value && graph_.values[to].node < graph_.find_node(name)) return to;
    Node copy;
    copy.name = derived_name(graph_, name, "input");
    copy.op = "aten::clone";
    copy.args = {ValueRef{value}};
    copy.kwargs = {{"memory_format", std::string(memory_format(meta(value)))}};
    const ValueId made = insert_node(graph_, graph_.find_node(name), std::move(copy), {in_channels_last(meta(value))});
    copies_.emplace_back(value, made);
    return made;
  }

  void convert_weight(const std::string& name) {
    const ValueId weight = weight_of(node(name));
    if (is_channels_last(meta(weight))) return;
    if (objection_to_preparing(draft_, weight)) return convert_input(name, weight);
    prepare_value(draft_, weight);
    const ValueId packed =
        PreparedMath(draft_, name)
            .copied("packed_weight", weight, memory_format(meta(weight)), channels_last_strides(meta(weight).sizes));
    replace(name, weight, packed);
  }

  //! Whoever reads the result, and is not converted as well, gets it as it was.
  void add_way_back(const std::string& name, ValueId result) {
    TensorMeta contiguous = meta(result);
    contiguous.strides = contiguous_strides(contiguous.sizes);
    Node copy;
    copy.name = derived_name(graph_, name, "contiguous");
    copy.op = "aten::clone";
    copy.args = {ValueRef{result}};
    copy.kwargs = {{"memory_format", std::string("contiguous_format")}};
    const int behind = graph_.find_node(name) + 1;
    const ValueId back = insert_node(graph_, behind, std::move(copy), {contiguous});
    redirect_readers(graph_, result, back, behind);
    back_.push_back(back);
  }

  Draft& draft_;
  OpGraph& graph_;
  std::vector<std::pair<ValueId, ValueId>> copies_;
  std::vector<ValueId> back_;
};

}  // namespace

const TechniqueDescription& ChannelsLast::description() const {
  static const TechniqueDescription description = {
      "layout",
      "layout",
      "Convolutions of 2 and 3 dimensions, and the pointwise nodes, pools and batch normalisations named with them, "
      "run in channels_last: inputs are copied into it (NODE_input) unless they are, weights are packed when they "
      "change, "
      "and whoever else reads a result gets a copy in the old layout (NODE_contiguous).",
      "Chains of convolutions with many channels: tensor cores want channels innermost, and cuDNN otherwise converts "
      "before and after every convolution.",
      "A single convolution, or few channels: the copies cost more than they save. Depthwise convolutions. Where "
      "PyTorch "
      "allows TF32 for convolutions, as it does by default, cuDNN may use it in this layout and not in the other; the "
      "result is then refused as wrong, since the task's own is more accurate.",
      "layout conv2d_1 relu_1 conv2d_2 channels_last",
      {},
      "NODE… channels_last"};
  return description;
}

void ChannelsLast::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const auto chosen = read_chosen_nodes(
      cursor, word, draft, [&](const Node& node) { return objection(draft, node); }, format);
  const DirectiveToken chosen_format = cursor.next();
  if (chosen_format.text != format)
    reject(Status::parse_error, chosen_format.at,
           fmt::format("expected the layout behind the nodes, which is channels_last, found {}", shown(chosen_format)));
  expect_end(cursor, word);
  Conversion(draft).run(chosen);
}

std::vector<std::string> ChannelsLast::suggestions(const OpGraph& graph) const {
  const Draft draft(graph, {});
  const bool any = std::ranges::any_of(
      graph.nodes, [&](const Node& node) { return is_convolution(node) && !objection(draft, node); });
  return any ? std::vector<std::string>{"layout * channels_last"} : std::vector<std::string>();
}

}  // namespace cudal1
