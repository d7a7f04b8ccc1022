// How a matrix product is dealt out to blocks and warps: what a directive says, and what is best where it says nothing.
#pragma once

#include <optional>

#include "writer/parameters.hpp"

namespace cudal1 {

//! A batch of products: rows x depth by depth x columns.
struct ProductSizes {
  std::int64_t batches = 1, rows = 1, columns = 1, depth = 1;

  bool is_empty() const { return batches * rows * columns * depth == 0; }
};

enum class ProductMath {
  fp32,    //!< no tensor cores
  tf32x3,  //!< fp32 accuracy by three products of TF32 parts
  tensor,  //!< operands of 16 bits
};

struct ProductTile {
  std::int64_t rows, columns, depth, warps_down, warps_across;

  std::int64_t threads() const { return 32 * warps_down * warps_across; }
  std::string name() const;  //!< "128x64x32"
};

//! Every tile that there is.
const std::vector<ProductTile>& product_tiles();

struct ProductShape {
  ProductTile tile{};
  ProductMath math = ProductMath::tf32x3;
  std::int64_t stages = 3;
  std::int64_t split = 1;  //!< parts of the depth
  std::int64_t swizzle = 8;

  std::int64_t tiles_down(const ProductSizes& sizes) const { return (sizes.rows + tile.rows - 1) / tile.rows; }
  std::int64_t tiles_across(const ProductSizes& sizes) const {
    return (sizes.columns + tile.columns - 1) / tile.columns;
  }
  //! Depth of one part, in whole tiles.
  std::int64_t part(const ProductSizes& sizes) const;
};

//! What the shape depends on besides the sizes.
struct ProductOperands {
  std::int64_t element_bytes = 4;
  bool left_along_depth = true, right_along_depth = true;  //!< else rows (columns) lie side by side
  bool may_split = true;                                   //!< parts of the depth can be added up
  std::int64_t rows_together = 0;                          //!< not 0: no tile has rows of two such groups
};

//! Bytes that a block needs, as TiledProduct (<cudal1/gemm.cuh>) lays them out.
std::int64_t shared_bytes(const ProductShape& shape, const ProductOperands& operands);

//! `tile`, `stages`, `split`, `swizzle`, `math`.
const std::vector<Parameter>& product_parameters();

//! Throws Rejection where a parameter does not go with the product.
ProductShape choose_shape(const ProductSizes& sizes, const ProductOperands& operands,
                          const ParameterValues& parameters);

}  // namespace cudal1
