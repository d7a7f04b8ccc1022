#include "writer/techniques/matmul_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "writer/products/product_code.hpp"
#include "writer/products/row_product_code.hpp"
#include "writer/techniques/rows.hpp"

namespace cudal1 {
namespace {

//! Those of matrix products; there is no reduction for each result.
std::vector<Parameter> row_product_parameters() {
  std::vector<Parameter> parameters = product_parameters();
  for (Parameter& parameter : parameters)
    if (parameter.name == "tile") {
      parameter.what = "rows x columns of a block's results, x the depth of one stage";
      std::erase(parameter.choices, "rows");
    }
  return parameters;
}

//! The kernel that adds up parts of the depth has whole rows; without it a tile may have to.
ProductShape choose_row_shape(const RowProductSpace& space, const ParameterValues& parameters) {
  ProductOperands operands = space.product.operands();
  operands.reduces_rows = true;
  const ProductShape any = choose_shape(space.product.sizes, operands, parameters);
  if (any.split > 1 || !space.needs_whole_rows()) return any;
  operands.may_split = false;
  operands.whole_rows = true;
  return choose_shape(space.product.sizes, operands, parameters);
}

//! Parts of the depth, and a kernel that adds them up and reduces their rows.
WrittenGroup write_parts_and_rows(const OpGraph& graph, const RowProductSpace& space, const ProductShape& shape,
                                  const std::string& name) {
  WrittenGroup parts = ProductCode(graph, space.product, shape, name).write_parts();
  OpGraph with_parts = graph;
  Value value;
  value.name = parts.buffers.front().name;
  value.meta = {DType::f32, parts.buffers.front().sizes, contiguous_strides(parts.buffers.front().sizes)};
  with_parts.values.push_back(std::move(value));
  const RowSpace rows = rows_of_parts(space, static_cast<ValueId>(graph.values.size()), shape.split);
  const auto defaults = ParameterValues::defaults(RowFusion().description().parameters);
  return joined(std::move(parts), write_rows(with_parts, rows, defaults, name + "_rows"));
}

}  // namespace

const TechniqueDescription& RowProductFusion::description() const {
  static const TechniqueDescription description = {
      "matmul_rows",
      "fuse",
      "A matrix product, the pointwise nodes before and after it, and reductions over all of its columns (sum, mean, "
      "product, extrema with their places, variance, norms, logsumexp), with pointwise nodes on what they give. Each "
      "block reduces the rows of its tile from the sums in shared memory, and the product itself never reaches memory, "
      "unless others read it. Where a tile has all columns, the block finishes its rows, and what needs several passes "
      "over a row (softmax, layer norm) is computed there, too; else a second kernel combines what the tiles of a row "
      "have found, in an order that is the same every time. Few tiles over a long depth are split in parts; the kernel "
      "that adds them up then reduces the rows.",
      "Products whose rows end as one number each, or of at most 256 columns: nothing is written that the next kernel "
      "would only read again. Few rows over a long depth, with softmax or a norm behind: two kernels, not three.",
      "Several passes over a row compute the pointwise nodes again. Rows that end as one number save little where the "
      "depth is large: the product takes all the time.",
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
  const ProductShape shape = choose_row_shape(space, parameters);
  refuse_sizes(space.product.sizes, shape, at);
  WrittenGroup group = shape.split > 1 ? write_parts_and_rows(region.graph(), space, shape, name)
                                       : RowProductCode(region.graph(), space, shape, name).write();
  group.parameters = parameters_of(shape);
  return group;
}

std::optional<RowProductUse> use_of_row_product(const Region& region) {
  const RowProductFusion technique;
  if (!technique.is_for(region)) return std::nullopt;
  try {
    const auto defaults = ParameterValues::defaults(technique.description().parameters);
    const WrittenGroup group = technique.write(region, defaults, {}, "name");
    const std::vector<WrittenLaunch>& launches = group.launches;
    const Dim3& grid = launches.front().grid;
    std::int64_t scratch_bytes = 0;
    for (const WrittenBuffer& buffer : group.buffers)
      scratch_bytes += TensorMeta{buffer.dtype, buffer.sizes, contiguous_strides(buffer.sizes)}.span_bytes();
    return RowProductUse{static_cast<std::int64_t>(launches.size()), grid[0] * grid[1] * grid[2], scratch_bytes};
  } catch (const Rejection&) {
    return std::nullopt;
  }
}

}  // namespace cudal1
