#include "writer/techniques/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "writer/products/product_code.hpp"
#include "writer/techniques/rows.hpp"

namespace cudal1 {
namespace {

//! A product of a vector reads its matrix once and does little else: a reduction is as good as any tile.
bool is_by_rows(const ProductSizes& sizes, const ParameterValues& parameters) {
  if (!parameters.is_auto("tile")) return parameters.text("tile") == "rows";
  return sizes.is_empty() || std::min(sizes.rows, sizes.columns) == 1;
}

WrittenGroup write_by_rows(const Region& region, const ParameterValues& parameters, SourcePosition at,
                           const std::string& name) {
  for (const char* parameter : {"stages", "split", "swizzle", "math", "warps", "add", "ahead", "blocks"})
    if (!parameters.is_auto(parameter) && parameters.text(parameter) != "fp32")
      reject(Status::plan_error, parameters.at(parameter),
             fmt::format("{}={} is for products by tiles, and this one is a reduction for each result: a product of a "
                         "vector, or tile=rows",
                         parameter, parameters.text(parameter)));
  const RowFusion rows;
  TokenCursor nothing(DirectiveText{});
  WrittenGroup group = rows.write(region, ParameterValues::read(nothing, rows.description().parameters), at, name);
  group.parameters = {{"tile", "rows"}};
  return group;
}

}  // namespace

const TechniqueDescription& ProductFusion::description() const {
  static const TechniqueDescription description = {
      "matmul",
      "fuse",
      "A matrix product (mm, bmm, matmul, linear, addmm, addmv, baddbmm, mv, dot, einsum) in one kernel with the "
      "pointwise "
      "nodes after it, computed from the sums before they are stored, and with those before it. Blocks compute tiles "
      "of "
      "the result; tiles of the operands come to shared memory some stages ahead. fp32 operands are multiplied on "
      "tensor "
      "cores as sums of two TF32 numbers, with fp32's accuracy. Few tiles over a long depth are split in parts, which "
      "a second kernel adds up in their order. Products of a vector are reductions.",
      "fp32 products with or without activation, bias or residual behind them; small products, where launches count.",
      "Pointwise nodes before the product: every block computes them again for its tile, and copies do not run ahead. "
      "Operands without neighbours in memory along rows or depth, for the same reason. An infinite element of an fp32 "
      "operand gives NaN, unless math=fp32.",
      "fuse linear_1 gelu_1 : tile=128x64x32 stages=3 math=tf32x3",
      product_parameters()};
  return description;
}

bool ProductFusion::is_for(const Region& region) const {
  const auto& nodes = region.computing_nodes();
  const auto node = [&](int index) -> const Node& { return region.graph().nodes[index]; };
  return std::ranges::count_if(nodes, [&](int index) { return is_product(node(index)); }) == 1 &&
         std::ranges::all_of(nodes, [&](int index) { return is_product(node(index)) || is_pointwise(node(index)); });
}

WrittenGroup ProductFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                                  const std::string& name) const {
  const ProductNode product = product_of(region, at);
  if (is_by_rows(sizes_of(region.graph(), product), parameters)) return write_by_rows(region, parameters, at, name);
  const ProductSpace space = make_product_space(region, product, at);
  if (space.sizes.is_empty())
    reject(Status::plan_error, parameters.at("tile"), "there is nothing to multiply: only tile=rows can do that");
  const ProductShape shape = choose_shape(space.sizes, space.operands(), parameters);
  refuse_sizes(space.sizes, shape, at);
  WrittenGroup group = ProductCode(region.graph(), space, shape, name).write();
  group.parameters = parameters_of(shape);
  return group;
}

}  // namespace cudal1
