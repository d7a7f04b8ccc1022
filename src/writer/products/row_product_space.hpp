// A region with one matrix product whose columns are reduced, row by row.
#pragma once

#include "writer/fused/row_space.hpp"
#include "writer/products/product_space.hpp"

namespace cudal1 {

struct RowProductSpace {
  ProductSpace product;  //!< `results` has the terms of `rows`, and the loops of the product's dimensions
  RowSpace rows;         //!< sums of the product are constants with the code `sum_code`

  //! By output: it needs the result of a reduction.
  std::vector<bool> is_late;
  //! What is computed column by column needs results of reductions of the same row, as in softmax: a block must have
  //! all columns of its rows.
  bool needs_whole_rows() const;
};

//! Throws Rejection at `at` for what cannot be reduced from tiles of the product.
RowProductSpace make_row_product_space(const Region& region, const ProductNode& node, SourcePosition at);

}  // namespace cudal1
