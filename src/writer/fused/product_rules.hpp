// Matrix products: which dimensions are whose, and one element of the result.
#pragma once

#include <optional>

#include "writer/fused/operator_rules.hpp"

namespace cudal1 {

//! A product of two tensors. The result's dimensions are those of batches, then of rows, then of columns.
struct ProductNode {
  static constexpr int depth_dimension = -1, no_dimension = -2;

  ValueId value = -1, left = -1, right = -1;
  std::size_t batch_dimensions = 0, row_dimensions = 0, column_dimensions = 0;
  std::int64_t depth = 0;
  //! Equal parts of the first dimension of rows that are products of their own, with operands of their own: batches.
  std::int64_t groups = 1;
  //! For each dimension of an operand, which of the result it is; or depth_dimension, or no_dimension where the operand
  //! is broadcast.
  std::vector<int> left_dimensions, right_dimensions;

  //! Where the operand is read for an element of the result.
  static Point point_of(const std::vector<int>& dimensions, const Point& result, const Affine& depth);
};

//! mm, bmm, matmul, linear, mv, dot, addmm, addmv, baddbmm; einsum where it is one.
bool is_product(const Node& node);

//! Nothing where the arguments are no tensors of such dimensions.
std::optional<ProductNode> read_product(const OpGraph& graph, const Node& node);

//! Sums over the depth, or of a kept product (Lowering::keep_products), with what the node adds to them.
const OperatorRule& product_rule();

}  // namespace cudal1
