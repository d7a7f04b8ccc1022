// Through a view to its base: which element of a tensor lies at a place in memory.
#pragma once

#include <optional>

#include "graph/tensor_meta.hpp"
#include "writer/fused/affine.hpp"

namespace cudal1 {

//! Those with more than one element, the largest strides first.
std::vector<std::size_t> dimensions_by_stride(const TensorMeta& meta);

//! Elements from the tensor's first one.
Affine memory_place(const TensorMeta& meta, const Point& point);

//! The index into a dense tensor of what lies at this place; atoms are split where the tensor's dimensions cut them.
//! Nothing where a place does not fall into its dimensions that way.
std::optional<Point> point_at(const TensorMeta& dense, const Affine& place, AtomTable& atoms);

}  // namespace cudal1
