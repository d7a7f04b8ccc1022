// What kernels of products share: names, and what becomes of their sums.
#pragma once

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

//! For __launch_bounds__.
std::string launch_bounds(const ProductShape& shape);

//! Computes and stores what follows from `sum`, which holds as many neighbours as the access is wide.
std::string element_results(const OpGraph& graph, const AccessCode& access, const FusedTerms& fused,
                            const std::string& indent);

}  // namespace cudal1
