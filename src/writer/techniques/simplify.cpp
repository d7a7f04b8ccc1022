#include "writer/techniques/simplify.hpp"

#include <fmt/format.h>

#include "graph/operator_name.hpp"
#include "program/unit_order.hpp"
#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"

namespace cudal1 {
namespace {

//! The vector of which a node makes a matrix with nothing else but its diagonal.
std::optional<ValueId> diagonal_of(const OpGraph& graph, ValueId matrix) {
  const int index = graph.values[matrix].node;
  if (index < 0 || graph.values[matrix].view) return std::nullopt;
  const Node& node = graph.nodes[index];
  const std::string_view name = base_name(node.op);
  if (name != "diag" && name != "diag_embed") return std::nullopt;
  const auto* vector = argument_as<ValueRef>(node, 0, "self");
  const auto* offset = argument_as<std::int64_t>(node, 1, name == "diag" ? "diagonal" : "offset");
  if (!vector || (offset && *offset != 0) || argument_of(node, 2, "dim1")) return std::nullopt;
  return graph.values[vector->id].meta.sizes.size() == 1 ? std::optional(vector->id) : std::nullopt;
}

struct Product {
  ValueId left = -1, right = -1;
};

std::optional<Product> product_of_matrices(const OpGraph& graph, const Node& node) {
  const std::string_view name = base_name(node.op);
  if (name != "mm" && name != "matmul") return std::nullopt;
  const auto* left = argument_as<ValueRef>(node, 0, "self");
  const auto* right = argument_as<ValueRef>(node, 1, name == "mm" ? "mat2" : "other");
  if (!left || !right) return std::nullopt;
  const bool two = graph.values[left->id].meta.sizes.size() == 2 && graph.values[right->id].meta.sizes.size() == 2;
  return two ? std::optional(Product{left->id, right->id}) : std::nullopt;
}

std::optional<std::string> objection(const Draft& draft, const Node& node) {
  const auto product = product_of_matrices(draft.graph, node);
  if (!product) return fmt::format("{} is no product of two matrices", node.op);
  const bool left = diagonal_of(draft.graph, product->left).has_value();
  if (!left && !diagonal_of(draft.graph, product->right)) return "neither matrix is made by aten::diag of a vector";
  const ValueId vector = *diagonal_of(draft.graph, left ? product->left : product->right);
  if (draft.graph.values[base_of(draft.graph, vector)].kind == ValueKind::state)
    return fmt::format("{} is a state, which may change in between", quoted(draft.graph.values[vector].name));
  return std::nullopt;
}

//! diag(v) · B has row i times v[i]; A · diag(v) has column j times v[j].
void make_elementwise(OpGraph& graph, int index) {
  const Product product = *product_of_matrices(graph, graph.nodes[index]);
  const auto of_left = diagonal_of(graph, product.left);
  ValueId vector = of_left ? *of_left : *diagonal_of(graph, product.right);
  if (of_left) {
    const TensorMeta given = graph.values[vector].meta;
    Node view;
    view.name = derived_name(graph, graph.nodes[index].name, "rows");
    view.op = "aten::unsqueeze";
    view.args = {ValueRef{vector}, std::int64_t{1}};
    const TensorMeta meta{given.dtype, {given.sizes[0], 1}, {given.strides[0], 1}};
    vector = insert_view(graph, index++, std::move(view), meta, vector);
  }
  Node& node = graph.nodes[index];
  node.op = "aten::mul.Tensor";
  node.args = {ValueRef{of_left ? product.right : product.left}, ValueRef{vector}};
  node.kwargs.clear();
  remove_if_unread(graph, of_left ? product.left : product.right);
}

}  // namespace

const TechniqueDescription& SimplifyProducts::description() const {
  static const TechniqueDescription description = {
      "simplify",
      "simplify",
      "A product with a diagonal matrix, diag(v) @ B or A @ diag(v), becomes a multiplication of each row or column by "
      "its number; the matrix is not made.",
      "Always: n² multiplications instead of n³.",
      "Never; infinities and NaN in the other matrix no longer spread along its rows.",
      "simplify mm_1",
      {}};
  return description;
}

void SimplifyProducts::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const auto chosen = read_chosen_nodes(cursor, word, draft, [&](const Node& node) { return objection(draft, node); });
  expect_end(cursor, word);
  for (const ChosenNode& name : chosen) make_elementwise(draft.graph, draft.graph.find_node(name.name));
}

std::vector<std::string> SimplifyProducts::suggestions(const OpGraph& graph) const {
  const Draft draft(graph, {});
  std::vector<std::string> lines;
  for (const Node& node : graph.nodes)
    if (!objection(draft, node)) lines.push_back("simplify " + node.name);
  return lines;
}

}  // namespace cudal1
