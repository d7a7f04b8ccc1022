#include "writer/techniques/depthwise.hpp"

#include <algorithm>

#include "writer/fused/operator_rules.hpp"
#include "writer/fused/window_choice.hpp"
#include "writer/fused/window_rules.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t few_channels = 4;  // with more, the library's matrix multiplications are faster

bool sees_few_channels(const OpGraph& graph, const Node& node) {
  const std::int64_t channels = channels_of_a_group(graph, node);
  return channels > 0 && channels <= few_channels;
}

}  // namespace

const TechniqueDescription& DepthwiseFusion::description() const {
  static const TechniqueDescription description = {
      "depthwise",
      "fuse",
      "One convolution (1 to 3 dimensions, any stride, padding, dilation, bias) in which an output sees at most four "
      "input channels, such as a depthwise one, in one kernel with the pointwise nodes before and after it. A thread "
      "computes one output, or some that are neighbours and read what their windows share once; sums are fp32.",
      "Depthwise convolutions, which read and write much and compute little: activations and normalisation by running "
      "statistics cost nothing more there.",
      "Many output channels of few input channels: each reads the input again. Expensive nodes before the convolution: "
      "they are computed anew for every thread that looks at an element.",
      "fuse conv2d_1 batch_norm_1 relu6_1 : items=4",
      window_parameters()};
  return description;
}

bool DepthwiseFusion::is_for(const Region& region) const {
  const auto& nodes = region.computing_nodes();
  const auto node = [&](int index) -> const Node& { return region.graph().nodes[index]; };
  const auto is_direct = [&](int index) { return sees_few_channels(region.graph(), node(index)); };
  return std::ranges::count_if(nodes, is_direct) == 1 &&
         std::ranges::all_of(nodes, [&](int index) { return is_pointwise(node(index)) || is_direct(index); });
}

WrittenGroup DepthwiseFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                                    const std::string& name) const {
  return write_windows(region, parameters, at, name);
}

}  // namespace cudal1
