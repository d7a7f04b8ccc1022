// A region with one matrix product: its operands as rows, columns and depth of a product, and what happens to its sums.
#pragma once

#include "writer/fused/access_code.hpp"
#include "writer/fused/product_rules.hpp"
#include "writer/products/tile_choice.hpp"

namespace cudal1 {

//! One operand: its lines are the product's rows or columns.
struct ProductOperand {
  FusedTerms fused;
  int term = -1;  //!< the operand's element
  std::vector<Loop> batches, lines, depth;

  //! A tensor in memory, whose lines and depth are one loop each, one of which walks through neighbours; nothing else
  //! happens to its elements.
  bool is_direct = false;
  bool along_depth = true;
  std::int64_t stride = 0;  //!< of the other one
  std::int64_t vector = 1;  //!< neighbours that can be copied at once

  const Term& load() const { return fused.terms[term]; }
  std::vector<Loop> loops() const;  //!< all, batches first
};

//! Everything after the sums: what is computed of them and stored.
struct ProductResults {
  FusedTerms fused;  //!< a sum is a constant with the code `sum_code`
  std::vector<Loop> batches, rows, columns;

  std::vector<Loop> loops() const;
};

inline constexpr const char* sum_code = "sum[e]";

struct ProductSpace {
  ProductNode node;
  ProductSizes sizes;
  DType dtype = DType::f32;  //!< of the operands
  ProductOperand left, right;
  ProductResults results;

  ProductOperands operands() const;
};

//! The region's only product. Throws Rejection at `at` where its operands are no matrices.
ProductNode product_of(const Region& region, SourcePosition at);

//! Throws Rejection at `at` for what cannot be computed tile by tile.
ProductSpace make_product_space(const Region& region, const ProductNode& node, SourcePosition at);

//! What follows the node's sums; of the node, its value and dimensions count.
ProductResults make_product_results(const Region& region, const ProductNode& node, SourcePosition at);

//! The node's operands; results are still to be found.
ProductSpace make_product_operands(const Region& region, const ProductNode& node, SourcePosition at);

//! Finds the product's dimensions in the loops of what follows it, where sums are read at this index. Throws Rejection
//! at `at` where the loops do not count through them.
ProductResults results_at(const OpGraph& graph, const ProductNode& node, FusedTerms fused, const Point& sums,
                          SourcePosition at);

//! Loads of the product become its sums.
void take_sums(FusedTerms& fused, ValueId product);

//! Throws Rejection at `at` where elements of the results need several of the product, or none.
void refuse_several_sums(const OpGraph& graph, const ProductNode& node, const std::vector<Point>& sums,
                         SourcePosition at);

//! Throws Rejection at `at` where a block would change what others still multiply.
void refuse_changed_operands(const OpGraph& graph, const ProductSpace& space, SourcePosition at);

//! Throws Rejection at `at` where there are more rows, columns or tiles than are counted.
void refuse_sizes(const ProductSizes& sizes, const ProductShape& shape, SourcePosition at);

//! Of the product alone.
ProductSizes sizes_of(const OpGraph& graph, const ProductNode& node);

}  // namespace cudal1
