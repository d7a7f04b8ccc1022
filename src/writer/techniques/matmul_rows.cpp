#include "writer/techniques/matmul_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "writer/products/row_product_code.hpp"

namespace cudal1 {
namespace {

//! Those of matrix products; there is no reduction for each result.
std::vector<Parameter> row_product_parameters() {
  std::vector<Parameter> parameters = product_parameters();
  for (Parameter& parameter : parameters) {
    if (parameter.name == "tile") {
      parameter.what = "rows x columns of a block's results, x the depth of one stage";
      std::erase(parameter.choices, "rows");
    }
    if (parameter.name == "split") {
      parameter.what = "parts of the depth: one, since a row can be reduced when its sums are whole";
      parameter.choices = {"auto", "1"};
    }
  }
  return parameters;
}

}  // namespace

const TechniqueDescription& RowProductFusion::description() const {
  static const TechniqueDescription description = {
      "matmul_rows",
      "fuse",
      "A matrix product, the pointwise nodes before and after it, and reductions over all of its columns (sum, mean, "
      "product, extrema with their places, variance, norms, logsumexp), with pointwise nodes on what they give: the "
      "product itself never reaches memory, unless others read it. Each block reduces the rows of its tile from the "
      "sums in shared memory. Where a tile has all columns, it finishes them, and what needs several passes over a row "
      "(softmax, layer norm) is computed there too; else a second kernel combines what the tiles of a row have found, "
      "in an order that is the same every time.",
      "Products whose rows end as one number each, or of at most 256 columns: nothing is written that the next kernel "
      "would only read again.",
      "Few rows over a great depth, where `matmul` splits the depth: here a block adds up all of it. Several passes "
      "compute the pointwise nodes again.",
      "fuse linear_1 gelu_1 sum_1 : tile=128x64x32 stages=3",
      row_product_parameters()};
  return description;
}

bool RowProductFusion::is_for(const Region& region) const {
  int products = 0, reductions = 0;
  for (const int index : region.computing_nodes()) {
    const Node& node = region.graph().nodes[index];
    if (is_product(node))
      ++products;
    else if (is_reduction(region.graph(), node))
      ++reductions;
    else if (!is_pointwise(node))
      return false;
  }
  return products == 1 && reductions > 0;
}

WrittenGroup RowProductFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                                     const std::string& name) const {
  const ProductNode product = product_of(region, at);
  if (sizes_of(region.graph(), product).is_empty())
    reject(Status::plan_error, at,
           fmt::format("the product {} has nothing to multiply; fuse what reduces it apart",
                       quoted(region.graph().values[product.value].name)));
  const RowProductSpace space = make_row_product_space(region, product, at);
  ProductOperands operands = space.product.operands();
  operands.may_split = false;
  operands.reduces_rows = true;
  operands.whole_rows = space.needs_whole_rows();
  const ProductShape shape = choose_shape(space.product.sizes, operands, parameters);
  refuse_sizes(space.product.sizes, shape, at);
  return RowProductCode(region.graph(), space, shape, name).write();
}

std::optional<RowProductUse> use_of_row_product(const Region& region) {
  const RowProductFusion technique;
  if (!technique.is_for(region)) return std::nullopt;
  try {
    const auto defaults = ParameterValues::defaults(technique.description().parameters);
    const std::vector<WrittenLaunch> launches = technique.write(region, defaults, {}, "name").launches;
    const Dim3& grid = launches.front().grid;
    return RowProductUse{static_cast<std::int64_t>(launches.size()), grid[0] * grid[1] * grid[2]};
  } catch (const Rejection&) {
    return std::nullopt;
  }
}

}  // namespace cudal1
