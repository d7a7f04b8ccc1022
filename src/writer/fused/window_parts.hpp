// What rules of window operators share: arguments in numbers, and windows as indices of the argument.
#pragma once

#include "writer/fused/operator_rules.hpp"

namespace cudal1 {

using Numbers = std::vector<std::int64_t>;

//! "max_pool2d", "conv2d", "adaptive_avg_pool3d": how many dimensions the window has; 0: the name does not say.
std::size_t dimensions_in_name(std::string_view name);

//! A list of numbers, one for all dimensions, or none at all.
Numbers numbers(const Node& node, std::size_t position, std::string_view name, std::size_t count,
                const Numbers& fallback);

inline Numbers all(std::int64_t number, std::size_t count) { return Numbers(count, number); }

struct WindowSizes {
  Numbers kernel, stride, padding, dilation;
};

//! The argument of a window operator: its last dimensions are walked through by windows.
struct Windowed {
  ValueId value;
  Point point;
  std::vector<WindowDim> windows;
};

//! Refuses the node if the argument is not there.
ValueId tensor(const RuleCall& call, std::size_t position, std::string_view name);

inline const TensorMeta& meta_of(const RuleCall& call, ValueId value) {
  return call.lowering.graph().values[value].meta;
}

//! How many dimensions the windows have, if the tensor has as many.
std::size_t checked_dimensions(const RuleCall& call, const TensorMeta& meta, const Numbers& a_number_each);

//! stride · o + dilation · k - padding
WindowDim window(const RuleCall& call, const Affine& output, std::int64_t output_size, std::int64_t size,
                 const WindowSizes& sizes, std::size_t dim);

//! That in each of the last dimensions of a tensor.
Windowed windowed(const RuleCall& call, ValueId value, const WindowSizes& sizes);

}  // namespace cudal1
