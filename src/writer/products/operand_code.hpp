// How a block gets the sums of its tile: both operands of a matrix product, and the product of their tiles.
#pragma once

#include <set>
#include <string>

#include "writer/products/product_space.hpp"

namespace cudal1 {

//! `Tile`, `place`, `first_row`, `first_column`, `batch`, and `sums`: the block's sums in shared memory.
std::string sums_of_tile(const OpGraph& graph, const ProductSpace& space, const ProductShape& shape);

//! That operands need on their way.
std::set<std::string> operand_headers(const OpGraph& graph, const ProductSpace& space);

}  // namespace cudal1
