#include "writer/fused/loss_stages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/operator_name.hpp"
#include "program/unit_order.hpp"
#include "writer/fused/loss_rules.hpp"

namespace cudal1 {
namespace {

struct LossOfRows {
  std::string_view name;
  std::size_t reduction_position;
  bool has_classes;  //!< of the first argument, in dimension 1; the others' rows are its last dimension
};

constexpr LossOfRows losses_of_rows[] = {
    {"cross_entropy_loss", 3, true}, {"cosine_embedding_loss", 4, false}, {"triplet_margin_loss", 7, false}};

const LossOfRows* loss_of_rows(const Node& node) {
  for (const LossOfRows& loss : losses_of_rows) {
    if (base_name(node.op) != loss.name) continue;
    if (argument_as<ValueRef>(node, 0, "") == nullptr || argument_as<ValueRef>(node, 1, "") == nullptr) return nullptr;
    const auto* reduction = argument_as<std::int64_t>(node, loss.reduction_position, "reduction");
    return reduction != nullptr && *reduction == 0 ? nullptr : &loss;
  }
  return nullptr;
}

//! The argument, at its position; those before it that are not given become None.
void set_argument(Node& node, std::size_t position, std::string_view name, Argument argument) {
  if (position < node.args.size()) {
    node.args[position] = std::move(argument);
    return;
  }
  std::erase_if(node.kwargs, [&](const auto& entry) { return entry.first == name; });
  node.kwargs.emplace_back(std::string(name), std::move(argument));
}

class StageMaker {
 public:
  StageMaker(const Region& region, std::string name) : name_(std::move(name)) {
    made_.graph = region.graph();
    made_.second = region.nodes();
    for (const int node : region.nodes())
      if (const LossOfRows* loss = loss_of_rows(made_.graph.nodes[node])) cut(node, *loss);
    for (const int node : std::set<int>(made_.first)) take_what_it_needs(node);
  }

  LossStages take() { return std::move(made_); }

 private:
  //! The node keeps its name and its result; what it made of each row becomes another's.
  void cut(int index, const LossOfRows& loss) {
    Node rows = made_.graph.nodes[index];
    Node& rest = made_.graph.nodes[index];
    const ValueId losses = add_value(row_sizes(rows, loss));
    const Argument* reduction = argument_of(rest, loss.reduction_position, "reduction");
    const Argument given = reduction ? *reduction : Argument(std::int64_t{1});
    rest.op = "cudal1::loss_of_rows";
    rest.args = {ValueRef{losses}, given};
    if (loss.has_classes && !is_floating(meta_of(rows, 1).dtype)) {
      const Argument* ignored = argument_of(rows, 4, "ignore_index");
      rest.args.push_back(rows.args[1]);
      rest.args.push_back(ignored ? *ignored : Argument(std::int64_t{-100}));
    }
    rest.kwargs.clear();
    set_argument(rows, loss.reduction_position, "reduction", std::int64_t{0});
    rows.outputs = {losses};
    made_.first.insert(static_cast<int>(made_.graph.nodes.size()));
    made_.graph.nodes.push_back(std::move(rows));
  }

  const TensorMeta& meta_of(const Node& node, std::size_t position) const {
    return made_.graph.values[std::get<ValueRef>(node.args.at(position)).id].meta;
  }

  std::vector<std::int64_t> row_sizes(const Node& node, const LossOfRows& loss) const {
    std::vector<std::int64_t> sizes = meta_of(node, 0).sizes;
    if (sizes.empty()) return sizes;
    sizes.erase(loss.has_classes && sizes.size() > 1 ? sizes.begin() + 1 : sizes.end() - 1);
    return sizes;
  }

  ValueId add_value(const std::vector<std::int64_t>& sizes) {
    Value value;
    value.name = fmt::format("{}_rows{}", name_, made_.buffers.size());
    value.meta = {DType::f32, sizes, contiguous_strides(sizes)};
    value.node = static_cast<int>(made_.graph.nodes.size());
    made_.buffers.push_back({value.name, DType::f32, {std::max<std::int64_t>(1, value.meta.numel())}, false});
    made_.graph.values.push_back(std::move(value));
    return static_cast<ValueId>(made_.graph.values.size()) - 1;
  }

  void take_what_it_needs(int node) {
    for (const ValueId read : OpGraph::reads(made_.graph.nodes[node])) {
      const int producer = made_.graph.values[read].node;
      if (producer < 0 || !made_.second.contains(producer)) continue;
      made_.second.erase(producer);
      made_.first.insert(producer);
      take_what_it_needs(producer);
    }
  }

  std::string name_;
  LossStages made_;
};

}  // namespace

std::optional<LossStages> loss_stages(const Region& region, SourcePosition at, const std::string& name) {
  const auto is_loss = [&](int node) { return loss_of_rows(region.graph().nodes[node]) != nullptr; };
  if (std::ranges::none_of(region.nodes(), is_loss)) return std::nullopt;
  LossStages stages = StageMaker(region, name).take();
  const std::vector<ValueId>& outputs = region.outputs();
  const Region first(stages.graph, stages.first);
  for (const ValueId value : first.outputs()) {
    const bool is_new = value >= static_cast<ValueId>(region.graph().values.size());
    if (!is_new && std::ranges::find(outputs, value) == outputs.end())
      reject(Status::plan_error, at,
             fmt::format("{} is needed before and after a loss that reduces twice; fuse them apart",
                         quoted(stages.graph.values[value].name)));
  }
  return stages;
}

}  // namespace cudal1
