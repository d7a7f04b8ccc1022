#include "writer/techniques/convolution.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "program/unit_order.hpp"
#include "writer/fused/operator_rules.hpp"
#include "writer/products/convolution_code.hpp"

namespace cudal1 {
namespace {

//! TF32, which matrix products have only where a lower precision is declared, is PyTorch's own default here.
void allow_tf32(Parameter& math) {
  std::erase(math.if_declared, "tf32");
  math.choices.emplace_back("tf32");
  math.what += "; tf32: one product, as in PyTorch's own convolutions";
}

//! Those of matrix products that are of use here: nothing adds up parts of the depth.
std::vector<Parameter> convolution_parameters() {
  std::vector<Parameter> parameters = product_parameters();
  for (Parameter& parameter : parameters) {
    if (parameter.name == "tile")
      parameter.what = "output channels x places of a block's results, x depth of one stage";
    if (parameter.name == "tile") std::erase(parameter.choices, "rows");
    if (parameter.name == "split") parameter.choices = {"auto", "1"};
    if (parameter.name == "math") allow_tf32(parameter);
  }
  return parameters;
}

//! Each thread gathers for one row and one column.
void refuse_warps(const ProductTile& tile, SourcePosition at) {
  if (tile.threads() % tile.rows != 0 || tile.threads() % tile.columns != 0)
    reject(Status::plan_error, at,
           fmt::format("warps={}: a convolution's block of tile={} needs as many threads as it has rows, and columns",
                       tile.warps(), tile.name()));
}

//! PyTorch lets its own convolutions multiply in TF32.
OperandRounding rounding_of_windows(ProductMath math) {
  return math == ProductMath::tf32 ? OperandRounding::tf32_in_convolutions : rounding_of(math);
}

const Node& convolution_of(const Region& region) {
  const auto& nodes = region.computing_nodes();
  return region.graph().nodes[*std::ranges::find_if(
      nodes, [&](int node) { return is_product_of_windows(region.graph(), region.graph().nodes[node]); })];
}

}  // namespace

const TechniqueDescription& ConvolutionFusion::description() const {
  static const TechniqueDescription description = {
      "convolution",
      "fuse",
      "A convolution (1 to 3 dimensions, any stride, padding and dilation, transposed) with at least 8 output or 17 "
      "input channels, or of groups with at least 8 input channels and 16 output channels (transposed: times their "
      "steps) each, as a matrix product of its filters with the windows of its input, which are never written out: "
      "blocks gather them on their way to shared memory. Bias and pointwise nodes after it are computed from the sums "
      "before they are stored. fp32 is multiplied on tensor cores with fp32's accuracy. Transposed with steps: outputs "
      "that lie a step apart are columns, those in between are rows, so that all of them share what was gathered.",
      "Convolutions in three dimensions and transposed ones, which the library runs far below any limit; small ones "
      "with pointwise nodes behind them, where launches and passes through memory count.",
      "Large convolutions in two dimensions with many channels: the library multiplies in TF32, one product instead of "
      "three. Transposed, with filters that are no multiple of the step and output channels that are none of 64: the "
      "missing places are multiplied as zeros.",
      "fuse conv_transpose3d_1 add_1 hardswish_1 : tile=128x64x32 stages=3",
      convolution_parameters()};
  return description;
}

bool ConvolutionFusion::is_for(const Region& region) const {
  const OpGraph& graph = region.graph();
  int convolutions = 0;
  for (const int index : region.computing_nodes()) {
    const Node& node = graph.nodes[index];
    if (is_pointwise(node)) continue;
    if (!is_product_of_windows(graph, node)) return false;
    const auto made = read_convolution(graph, node);
    if (region.makes(base_of(graph, made->input)) || region.makes(base_of(graph, made->weight))) return false;
    ++convolutions;
  }
  return convolutions == 1;
}

WrittenGroup ConvolutionFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                                      const std::string& name) const {
  const auto node = read_convolution(region.graph(), convolution_of(region));
  const ConvolutionSpace space = make_convolution_space(region, *node, at);
  const ProductShape shape = choose_shape(space.sizes, space.operands(), parameters);
  refuse_warps(shape.tile, parameters.at("warps"));
  refuse_sizes(space.sizes, shape, at);
  WrittenGroup group = ConvolutionCode(region.graph(), space, shape, name).write();
  group.rounding = rounding_of_windows(shape.math);
  group.parameters = parameters_of(shape);
  return group;
}

}  // namespace cudal1
