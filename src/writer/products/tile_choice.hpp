// How a matrix product is dealt out to blocks and warps: what a directive says, and what is best where it says nothing.
#pragma once

#include <map>
#include <optional>
#include <string>

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
  wgmma,   //!< tf32x3 by groups of four warps (<cudal1/gemm_groups.cuh>)
};

struct ProductTile {
  std::int64_t rows, columns, depth, warps_down, warps_across;

  bool only_on_request = false;  //!< else it may be chosen where the directive says nothing

  std::int64_t threads() const { return 32 * warps_down * warps_across; }
  std::int64_t warp_sums() const { return rows * columns / (warps_down * warps_across); }
  std::string name() const;   //!< "128x64x32"
  std::string warps() const;  //!< "2x2"
};

//! Every tile that there is.
const std::vector<ProductTile>& product_tiles();

//! How the warps of a block go through a tile, with tf32x3 (Tf32x3By in <cudal1/gemm_math.cuh>) and wgmma
//! (Tf32x3GroupsBy in <cudal1/gemm_groups.cuh>).
struct WarpLoop {
  std::int64_t in_a_row = 32;  //!< products that tensor cores add before others do
  bool ahead = false;          //!< what they need next is loaded while they multiply

  bool operator==(const WarpLoop&) const = default;
};

struct ProductShape {
  ProductTile tile{};
  ProductMath math = ProductMath::tf32x3;
  WarpLoop loop;
  std::int64_t blocks = 1;  //!< for which a multiprocessor must have registers
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
  bool left_is_gathered = false;                           //!< each thread can bring elements of one row alone
  bool reduces_rows = false;                               //!< where columns take several tiles, a kernel more
  bool whole_rows = false;                                 //!< a tile must have all columns
};

//! Bytes that a block needs, as TiledProduct (<cudal1/gemm.cuh>) lays them out.
std::int64_t shared_bytes(const ProductShape& shape, const ProductOperands& operands);

//! `tile`, `stages`, `split`, `swizzle`, `math`, and of the warps `warps`, `add`, `ahead`, `blocks`.
const std::vector<Parameter>& product_parameters();

//! What says this shape, of parameters that its math has.
std::map<std::string, std::string> parameters_of(const ProductShape& shape);

//! Throws Rejection where a parameter does not go with the product.
ProductShape choose_shape(const ProductSizes& sizes, const ProductOperands& operands,
                          const ParameterValues& parameters);

}  // namespace cudal1
