// Reads dtypes, shapes and strides of graph.json and refuses those that no tensor can have.
#pragma once

#include "graph/json_place.hpp"
#include "graph/tensor_meta.hpp"

namespace cudal1 {

inline constexpr std::int64_t max_tensor_bytes = std::int64_t{1} << 40;

DType read_dtype(const JsonPlace& place);

//! Sizes from a list, contiguous strides.
TensorMeta read_contiguous_meta(DType dtype, const JsonPlace& shape);

//! "dtype", "shape" and perhaps "strides" of a leaf: no two elements may share memory.
TensorMeta read_leaf_meta(const JsonPlace& place);

//! The same of a node's output: views may overlap, and without "strides" the strides stay empty.
TensorMeta read_output_meta(const JsonPlace& place);

}  // namespace cudal1
