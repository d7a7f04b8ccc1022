#include "writer/techniques/depthwise.hpp"

#include <algorithm>

#include "writer/fused/operator_rules.hpp"
#include "writer/fused/window_choice.hpp"
#include "writer/fused/window_rules.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t few_channels = 16;  // with more, matrix multiplications are faster

bool sees_few_channels(const OpGraph& graph, const Node& node) {
  const std::int64_t channels = channels_of_a_group(graph, node);
  return channels > 0 && channels <= few_channels;
}

}  // namespace

const TechniqueDescription& DepthwiseFusion::description() const {
  static const TechniqueDescription description = {
      "depthwise",
      "fuse",
      "Convolutions (1 to 3 dimensions, any stride, padding, dilation, bias, transposed) in which an output sees at "
      "most 16 input channels, such as depthwise ones, in one kernel with the pointwise and pooling nodes before and "
      "after them. A "
      "thread computes one output, or some that are neighbours and read what their windows share once; sums are fp32.",
      "Depthwise convolutions, which read and write much and compute little: activations and normalisation by running "
      "statistics cost nothing more there. Small networks, where convolution, activation and pooling are three "
      "launches.",
      "Many output channels of several input channels: each reads the input again. Nodes before a convolution, and "
      "convolutions before windows that overlap: they are computed anew for every window that looks at an element.",
      "fuse conv2d_1 batch_norm_1 relu6_1 : items=4",
      window_parameters()};
  return description;
}

bool DepthwiseFusion::is_for(const Region& region) const {
  const auto& nodes = region.computing_nodes();
  const auto node = [&](int index) -> const Node& { return region.graph().nodes[index]; };
  const auto is_direct = [&](int index) { return sees_few_channels(region.graph(), node(index)); };
  return std::ranges::any_of(nodes, is_direct) && std::ranges::all_of(nodes, [&](int index) {
           return is_pointwise(node(index)) || is_pooling(region.graph(), node(index)) || is_direct(index);
         });
}

WrittenGroup DepthwiseFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                                    const std::string& name) const {
  return write_windows(region, parameters, at, name);
}

}  // namespace cudal1
