// A convolution's tensors and numbers, whichever operator it is.
#pragma once

#include <optional>

#include "writer/fused/window_parts.hpp"

namespace cudal1 {

struct ConvolutionNode {
  ValueId input = -1, weight = -1, value = -1;
  WindowSizes sizes;
  std::int64_t groups = 1;
  bool is_transposed = false;
};

//! Nothing where it is none, or has no batch.
std::optional<ConvolutionNode> read_convolution(const OpGraph& graph, const Node& node);

//! One whose weight is (channels in, channels out / groups, …).
bool is_transposed_convolution(const Node& node);
std::int64_t groups_of_convolution(const Node& node);
Numbers dilation_of_convolution(const Node& node, std::size_t count);
//! Before the first element; "same" puts what is odd behind.
Numbers padding_of_convolution(const Node& node, const Numbers& kernel, const Numbers& dilation);

}  // namespace cudal1
