// Sums of products that are written as an equation, aten::einsum: which of them are matrix products.
#pragma once

#include <optional>
#include <string>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! The letters of two operands and of their product: those of batches are in all three; then come the rows, which are
//! the left one's, and the columns. One letter is in both operands alone: the product sums over it.
struct EinsumProduct {
  std::string left, right, result;
  std::size_t left_operand = 0, right_operand = 1;  //!< of the node's tensors
  char depth = 0;
  std::size_t batches = 0, rows = 0, columns = 0;
};

//! Nothing where the node is no einsum, or none of that form: traces, sums over single operands, results in another
//! order.
std::optional<EinsumProduct> einsum_product(const Node& node);

}  // namespace cudal1
