// What kernels of products share: names, and what becomes of their sums.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "writer/fused/access_code.hpp"
#include "writer/products/product_space.hpp"

namespace cudal1 {

//! "b0", "b1", …
std::vector<std::string> loop_names(const char* letter, std::size_t count);
std::vector<std::string> names_of(const std::vector<Loop>& batches, const std::vector<Loop>& lines, const char* line,
                                  const std::vector<Loop>& others, const char* other);
std::vector<std::string> result_names(const ProductResults& results);

//! Of <cudal1/gemm.cuh>.
std::string math_name(const ProductShape& shape);

//! That have the operands' elements, and how they are multiplied.
std::set<std::string> math_headers(const ProductShape& shape, DType dtype);

//! For __launch_bounds__.
std::string launch_bounds(const ProductShape& shape);

//! "const float* __restrict__ x": a tensor that a kernel takes; `writes`: whether it stores results.
std::string kernel_parameter(const OpGraph& graph, const AccessCode& access, const FusedTerms& fused, ValueId value,
                             bool writes);

//! The first lines of a kernel whose blocks have a tile each: `Tile`, `first_row`, `first_column`, `batch`.
std::string tile_of_block(const ProductShape& shape, const ProductSizes& sizes);

//! Takes the block's sums from shared memory, neighbours in a row by neighbouring threads: `body` is for `row`, `group`
//! and `sum`.
std::string loop_over_sums(const ProductShape& shape, const ProductSizes& sizes, std::int64_t width,
                           const std::string& body);

//! Of all loops, from `batch`, `row` and `group`.
std::string result_indices(const ProductResults& results, const AccessCode& access, const std::string& indent);

//! Computes and stores what follows from `sum`, which holds as many neighbours as the access is wide.
std::string element_results(const OpGraph& graph, const AccessCode& access, const FusedTerms& fused,
                            const std::string& indent);

}  // namespace cudal1
