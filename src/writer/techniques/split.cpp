#include "writer/techniques/split.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/operator_name.hpp"
#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/linear_maps.hpp"

namespace cudal1 {
namespace {

//! `self` of addmm and its like is what is added, times beta; the product comes times alpha.
struct ProductWithSum {
  std::string_view op, first, second;  //!< and the names of its factors
  const char* product;
};

constexpr ProductWithSum products_with_sum[] = {{"addmm", "mat1", "mat2", "aten::mm"},
                                                {"baddbmm", "batch1", "batch2", "aten::bmm"},
                                                {"addmv", "mat", "vec", "aten::mv"}};

const ProductWithSum* product_with_sum(const Node& node) {
  const auto found = std::ranges::find(products_with_sum, base_name(node.op), &ProductWithSum::op);
  return found == std::end(products_with_sum) ? nullptr : found;
}

double factor(const Node& node, std::size_t position, std::string_view name) {
  if (const auto* real = argument_as<double>(node, position, name)) return *real;
  if (const auto* whole = argument_as<std::int64_t>(node, position, name)) return static_cast<double>(*whole);
  return 1.0;
}

std::optional<std::string> objection_to_sum(const Node& node) {
  if (!argument_as<ValueRef>(node, 0, "self")) return "what it adds is no tensor";
  if (factor(node, 3, "beta") == 0.0) return "its beta is 0, so nothing is added";
  if (factor(node, 3, "beta") != 1.0 && factor(node, 4, "alpha") != 1.0)
    return "neither its beta nor its alpha is 1, which an addition cannot say";
  return std::nullopt;
}

std::optional<std::string> objection(const Draft& draft, const Node& node) {
  if (node.outputs.size() != 1 || draft.graph.values[node.outputs[0]].view) return "its result is a view";
  if (!product_with_sum(node) && !is_linear_map(node))
    return fmt::format("{} adds no bias that could be split off", node.op);
  if (is_linear_map(node) && !bias_of(node)) return "it has no bias";
  if (!is_floating(draft.graph.values[node.outputs[0]].meta.dtype)) return "its result is no floating-point tensor";
  const DType dtype = draft.graph.values[node.outputs[0]].meta.dtype;
  if (is_floating(dtype) && size_in_bytes(dtype) < 4)
    return fmt::format("its result is {}, which would be rounded once more before the bias is added", to_string(dtype));
  if (const auto reason = product_with_sum(node) ? objection_to_sum(node) : std::nullopt) return reason;
  return objection_of_readers(draft, node.outputs[0]);
}

//! self + alpha · other
Node addition(std::string name, ValueId self, ValueId other, double alpha) {
  Node node;
  node.name = std::move(name);
  node.op = "aten::add.Tensor";
  node.args = {ValueRef{self}, ValueRef{other}};
  if (alpha != 1.0) node.kwargs = {{"alpha", alpha}};
  return node;
}

void add_behind(OpGraph& graph, int index, Node node) {
  const ValueId result = graph.nodes[index].outputs[0];
  const TensorMeta meta = graph.values[result].meta;
  const ValueId sum = insert_node(graph, index + 1, std::move(node), {meta});
  redirect_readers(graph, result, sum, index + 1);
}

void split_sum(OpGraph& graph, int index, const ProductWithSum& kind) {
  Node& node = graph.nodes[index];
  const ValueId bias = std::get<ValueRef>(*argument_of(node, 0, "self")).id;
  const ValueId result = node.outputs[0];
  const double beta = factor(node, 3, "beta"), alpha = factor(node, 4, "alpha");
  node.args = {*argument_of(node, 1, kind.first), *argument_of(node, 2, kind.second)};
  node.kwargs.clear();
  node.op = kind.product;
  std::string name = derived_name(graph, node.name, "bias");
  add_behind(
      graph, index,
      alpha == 1.0 ? addition(std::move(name), result, bias, beta) : addition(std::move(name), bias, result, alpha));
}

void split_bias(OpGraph& graph, int index) {
  const std::string name = derived_name(graph, graph.nodes[index].name, "bias");
  const ValueId result = graph.nodes[index].outputs[0];
  ValueId bias = *bias_of(graph.nodes[index]);
  set_argument(graph.nodes[index], 2, "bias", NoArgument{});
  if (is_convolution(graph.nodes[index])) bias = insert_per_channel_view(graph, index++, name, bias, result);
  add_behind(graph, index, addition(name, result, bias, 1.0));
}

}  // namespace

const TechniqueDescription& SplitBias::description() const {
  static const TechniqueDescription description = {
      "split",
      "split",
      "A convolution, linear map or product that adds a bias becomes two nodes: the library's operator without its "
      "bias, under the old name, and the addition, NODE_bias, which later lines can fuse with what comes after it.",
      "Behind convolutions: cuDNN's result is often passed through once more for the bias; with `fuse` that pass does "
      "all pointwise work up to the next convolution or reduction.",
      "Where nothing is fused with the addition: it is a launch of its own then. Libraries add the bias of a linear "
      "map for free.",
      "split conv2d_1",
      {}};
  return description;
}

void SplitBias::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const auto chosen = read_chosen_nodes(cursor, word, draft, [&](const Node& node) { return objection(draft, node); });
  expect_end(cursor, word);
  for (const ChosenNode& node : chosen) {
    const int index = draft.graph.find_node(node.name);
    if (const ProductWithSum* kind = product_with_sum(draft.graph.nodes[index]))
      split_sum(draft.graph, index, *kind);
    else
      split_bias(draft.graph, index);
  }
}

//! Of convolutions: kernels of our own for products add the bias anyway, and so does the library.
std::vector<std::string> SplitBias::suggestions(const OpGraph& graph) const {
  const bool any =
      std::ranges::any_of(graph.nodes, [](const Node& node) { return is_convolution(node) && bias_of(node); });
  return any ? std::vector<std::string>{"split conv*"} : std::vector<std::string>();
}

}  // namespace cudal1
