// A region with one matrix product whose columns are reduced, row by row.
#pragma once

#include "writer/fused/row_space.hpp"
#include "writer/products/product_space.hpp"

namespace cudal1 {

struct RowProductSpace {
  ProductSpace product;  //!< `results` has the terms of `rows`, and the loops of the product's dimensions
  RowSpace rows;         //!< sums of the product are constants with the code `sum_code`

  std::vector<std::int64_t> product_sizes;  //!< of the product's value, dimension by dimension

  //! By output: it needs the result of a reduction.
  std::vector<bool> is_late;
  //! What is computed column by column needs results of reductions of the same row, as in softmax: a block must have
  //! all columns of its rows.
  bool needs_whole_rows() const;
};

//! The rows alone, for a kernel that adds up the sums of `split` parts of the depth: they lie one behind the other in
//! this tensor, each as the product lies, row by row.
RowSpace rows_of_parts(const RowProductSpace& space, ValueId parts, std::int64_t split);

//! Throws Rejection at `at` for what cannot be reduced from tiles of the product.
RowProductSpace make_row_product_space(const Region& region, const ProductNode& node, SourcePosition at);

}  // namespace cudal1
