// Convolutions and linear layers as rewrites see them: input, weight, bias, and which dimension the channels are.
#pragma once

#include <optional>
#include <string>

#include "graph/op_graph.hpp"
#include "writer/fused/convolution_arguments.hpp"

namespace cudal1 {

//! conv1d … conv_transpose3d, convolution.
bool is_convolution(const Node& node);

//! aten::linear
bool is_linear(const Node& node);

//! input, weight and perhaps bias are its first arguments.
inline bool is_linear_map(const Node& node) { return is_linear(node) || is_convolution(node); }

ValueId input_of(const Node& node);
ValueId weight_of(const Node& node);
std::optional<ValueId> bias_of(const Node& node);

//! Groups of a convolution; 1 for a linear layer.
std::int64_t groups_of(const Node& node);

//! The dimension of the result that weight and bias give one element each for.
std::size_t channel_dimension(const OpGraph& graph, const Node& node);

//! Puts a view of `vector` (channels) before the node at `position`: (channels, 1, 1…), so that it broadcasts along the
//! channels of a convolution's `result` (N, channels, …).
ValueId insert_per_channel_view(OpGraph& graph, int position, const std::string& name, ValueId vector, ValueId result);

}  // namespace cudal1
