// Results of which a triangle is kept (tril, triu): tiles beyond the diagonal need no product.
#pragma once

#include <optional>

#include "writer/products/product_space.hpp"

namespace cudal1 {

struct KeptTriangle {
  bool lower = true;  //!< column - row <= diagonal is kept; else >=
  std::int64_t diagonal = 0;

  //! An expression of `first_row` and `first_column`: does the tile have elements that are kept?
  std::string is_needed(const ProductTile& tile) const;
};

//! Nothing where some result needs the sums of all elements.
std::optional<KeptTriangle> kept_triangle(const ProductResults& results);

}  // namespace cudal1
