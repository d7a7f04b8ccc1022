#include "writer/techniques/pooling.hpp"

#include <algorithm>

#include "writer/fused/operator_rules.hpp"
#include "writer/fused/window_choice.hpp"

namespace cudal1 {

const TechniqueDescription& PoolingFusion::description() const {
  static const TechniqueDescription description = {
      "pooling",
      "fuse",
      "Max, average or adaptive pooling (1 to 3 dimensions, padding, dilation, ceil_mode, places of maxima) in one "
      "kernel with the pointwise nodes before and after it. A thread computes one output, or some that are neighbours "
      "and whose windows overlap. Pooling may follow pooling: windows into windows are loops inside loops. Pooling to "
      "a single "
      "element is left to `rows`.",
      "Activations before or after pooling; overlapping windows, which are read once for several outputs; channels "
      "innermost in memory, which are loaded several at a time.",
      "Expensive nodes before overlapping windows: they are computed anew for every thread that looks at an element. "
      "Very large windows: one thread walks through all of one.",
      "fuse relu_1 max_pool2d_1 mul_1 : items=4",
      window_parameters()};
  return description;
}

bool PoolingFusion::is_for(const Region& region) const {
  const auto& nodes = region.computing_nodes();
  const auto node = [&](int index) -> const Node& { return region.graph().nodes[index]; };
  const auto pools = [&](int index) { return is_pooling(region.graph(), node(index)); };
  return std::ranges::any_of(nodes, pools) &&
         std::ranges::all_of(nodes, [&](int index) { return is_pointwise(node(index)) || pools(index); });
}

WrittenGroup PoolingFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                                  const std::string& name) const {
  return write_windows(region, parameters, at, name);
}

}  // namespace cudal1
