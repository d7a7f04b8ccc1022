#include "writer/fused/product_rules.hpp"

#include <algorithm>

#include "graph/operator_name.hpp"
#include "writer/fused/einsum_product.hpp"

namespace cudal1 {
namespace {

constexpr auto real = ScalarKind::real;

//! Operators that add a tensor to their product have it first: self + alpha · left · right.
bool adds_first_argument(const Node& node) {
  const std::string_view name = base_name(node.op);
  return name == "addmm" || name == "addmv" || name == "baddbmm";
}

//! An operator and what it calls the two that it multiplies.
struct ProductOperator {
  std::string_view name, left, right;
};
constexpr ProductOperator product_operators[] = {
    {"mm", "self", "mat2"},        {"bmm", "self", "mat2"}, {"matmul", "self", "other"},
    {"linear", "input", "weight"}, {"mv", "self", "vec"},   {"dot", "self", "tensor"},
    {"addmm", "mat1", "mat2"},     {"addmv", "mat", "vec"}, {"baddbmm", "batch1", "batch2"}};

//! Null: it is none.
const ProductOperator* product_operator(const Node& node) {
  const auto* found = std::ranges::find(product_operators, base_name(node.op), &ProductOperator::name);
  return found == std::end(product_operators) ? nullptr : found;
}

const ValueRef* tensor_argument(const Node& node, std::size_t position, std::string_view name) {
  const auto* ref = argument_as<ValueRef>(node, position, name);
  return ref != nullptr && ref->id >= 0 ? ref : nullptr;
}

class ProductReader {
 public:
  ProductReader(const OpGraph& graph, const Node& node) : graph_(graph), node_(node) {}

  std::optional<ProductNode> read() {
    if (const auto product = einsum_product(node_)) return read_einsum(*product);
    const std::size_t first = adds_first_argument(node_) ? 1 : 0;
    const ProductOperator* by = product_operator(node_);
    if (by == nullptr) return std::nullopt;
    const ValueRef* left = tensor_argument(node_, first, by->left);
    const ValueRef* right = tensor_argument(node_, first + 1, by->right);
    if (left == nullptr || right == nullptr || node_.outputs.size() != 1) return std::nullopt;
    made_.left = left->id;
    made_.right = right->id;
    made_.value = node_.outputs.front();
    if (sizes(made_.left).empty() || sizes(made_.right).empty()) return std::nullopt;
    made_.depth = sizes(made_.left).back();
    base_name(node_.op) == "linear" ? read_linear() : read_matmul();
    const std::size_t rank = made_.batch_dimensions + made_.row_dimensions + made_.column_dimensions;
    return rank == sizes(made_.value).size() ? std::optional(made_) : std::nullopt;
  }

 private:
  const std::vector<std::int64_t>& sizes(ValueId value) const { return graph_.values[value].meta.sizes; }

  std::optional<ProductNode> read_einsum(const EinsumProduct& product) {
    const ValueList& tensors = *argument_as<ValueList>(node_, 1, "tensors");
    made_.left = tensors[product.left_operand].id;
    made_.right = tensors[product.right_operand].id;
    if (made_.left < 0 || made_.right < 0 || node_.outputs.size() != 1) return std::nullopt;
    made_.value = node_.outputs.front();
    made_.batch_dimensions = product.batches;
    made_.row_dimensions = product.rows;
    made_.column_dimensions = product.columns;
    const std::size_t of_left = product.left.find(product.depth), of_right = product.right.find(product.depth);
    if (sizes(made_.left).size() != product.left.size() || sizes(made_.right).size() != product.right.size() ||
        sizes(made_.left)[of_left] != sizes(made_.right)[of_right])
      return std::nullopt;
    made_.depth = sizes(made_.left)[of_left];
    made_.left_dimensions = dimensions_of(made_.left, product.left, product);
    made_.right_dimensions = dimensions_of(made_.right, product.right, product);
    return made_;
  }

  std::vector<int> dimensions_of(ValueId operand, const std::string& letters, const EinsumProduct& product) const {
    std::vector<int> dimensions;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const std::size_t place = product.result.find(letters[i]);
      const bool is_broadcast = letters[i] != product.depth && sizes(operand)[i] != sizes(made_.value)[place];
      dimensions.push_back(letters[i] == product.depth ? ProductNode::depth_dimension
                           : is_broadcast              ? ProductNode::no_dimension
                                                       : static_cast<int>(place));
    }
    return dimensions;
  }

  //! x [rows…, depth], weight [columns, depth] or [depth]
  void read_linear() {
    rows_of_left();
    if (sizes(made_.right).size() == 2) add_column();
    made_.right_dimensions.push_back(ProductNode::depth_dimension);
  }

  //! [batches…, row, depth] by [batches…, depth, column]. Where the right one has no batches, the left's are rows.
  void read_matmul() {
    const std::size_t left = sizes(made_.left).size(), right = sizes(made_.right).size();
    if (right <= 2) {
      rows_of_left();
    } else {
      made_.batch_dimensions = std::max(left, right) - 2;
      if (left >= 2) made_.row_dimensions = 1;
      for (std::size_t i = 0; i + 2 < left; ++i) add_batch(made_.left, i, left, made_.left_dimensions);
      if (left >= 2) made_.left_dimensions.push_back(static_cast<int>(made_.batch_dimensions));
      made_.left_dimensions.push_back(ProductNode::depth_dimension);
      for (std::size_t i = 0; i + 2 < right; ++i) add_batch(made_.right, i, right, made_.right_dimensions);
    }
    made_.right_dimensions.push_back(ProductNode::depth_dimension);
    if (right >= 2) add_column();
  }

  void rows_of_left() {
    made_.row_dimensions = sizes(made_.left).size() - 1;
    for (std::size_t i = 0; i < made_.row_dimensions; ++i) made_.left_dimensions.push_back(static_cast<int>(i));
    made_.left_dimensions.push_back(ProductNode::depth_dimension);
  }

  void add_column() {
    made_.column_dimensions = 1;
    made_.right_dimensions.push_back(static_cast<int>(made_.batch_dimensions + made_.row_dimensions));
  }

  void add_batch(ValueId operand, std::size_t dimension, std::size_t rank, std::vector<int>& dimensions) const {
    const std::size_t of_result = made_.batch_dimensions - (rank - 2) + dimension;
    dimensions.push_back(sizes(operand)[dimension] == 1 ? ProductNode::no_dimension : static_cast<int>(of_result));
  }

  const OpGraph& graph_;
  const Node& node_;
  ProductNode made_;
};

int sum_of_product(const RuleCall& call, const ProductNode& product) {
  Lowering& lowering = call.lowering;
  if (lowering.keeps_products()) return lowering.kept_product(product.value, call.point);
  std::vector<int> loops;
  const Affine depth = lowering.loop(product.depth, loops);
  const auto operand = [&](ValueId value, const std::vector<int>& dimensions) {
    return lowering.value_at(value, ProductNode::point_of(dimensions, call.point, depth));
  };
  const int left = operand(product.left, product.left_dimensions);
  const int right = operand(product.right, product.right_dimensions);
  const int element = lowering.map(real, "{0} * {1}", {left, right});
  return lowering.reduce(real, "cudal1::Sum<float>", {element}, loops);
}

int scaled(const RuleCall& call, double factor, int term) {
  return factor == 1.0 ? term : call.lowering.map(real, "{0} * {1}", {call.lowering.constant(real, factor), term});
}

int product_element(const RuleCall& call) {
  const auto product = read_product(call.lowering.graph(), call.node);
  if (!product) call.lowering.refuse(call.node, "has operands that are no matrices");
  if (call.result_kind() != real) call.lowering.refuse(call.node, "multiplies matrices of integers");
  const int sum = sum_of_product(call, *product);
  constexpr std::size_t by_name = 99;  // alpha and beta have no position
  if (adds_first_argument(call.node)) {
    const double alpha = call.number(by_name, "alpha", 1.0), beta = call.number(by_name, "beta", 1.0);
    const int scaled_sum = scaled(call, alpha, sum);
    if (beta == 0.0) return scaled_sum;  // whatever self holds, also NaN, counts for nothing
    return call.lowering.map(real, "{0} + {1}", {scaled(call, beta, call.operand(0, "self", real)), scaled_sum});
  }
  if (base_name(call.node.op) != "linear" || !call.has(2, "bias")) return sum;
  return call.lowering.map(real, "{0} + {1}", {sum, call.operand(2, "bias", real)});
}

}  // namespace

Point ProductNode::point_of(const std::vector<int>& dimensions, const Point& result, const Affine& depth) {
  Point point;
  for (const int dimension : dimensions) {
    if (dimension == no_dimension)
      point.emplace_back();
    else
      point.push_back(dimension == depth_dimension ? depth : result[static_cast<std::size_t>(dimension)]);
  }
  return point;
}

bool is_product(const Node& node) { return product_operator(node) != nullptr || einsum_product(node).has_value(); }

std::optional<ProductNode> read_product(const OpGraph& graph, const Node& node) {
  return ProductReader(graph, node).read();
}

const OperatorRule& product_rule() {
  static const OperatorRule rule = product_element;
  return rule;
}

}  // namespace cudal1
