#include "writer/products/product_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "writer/products/operand_code.hpp"
#include "writer/products/result_code.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t adding_threads = 256;

}  // namespace

ProductCode::ProductCode(const OpGraph& graph, const ProductSpace& space, const ProductShape& shape, std::string name)
    : graph_(graph),
      space_(space),
      shape_(shape),
      name_(std::move(name)),
      results_(graph, space.results.fused, space.results.loops(), result_names(space.results)) {
  const FusedTerms::Output& first = space.results.fused.outputs.front();
  results_.set_width(std::min<std::int64_t>(4, results_.widest(first.value, first.place)));
  results_.set_wide(results_.reaches_far());
}

WrittenGroup ProductCode::write() const {
  WrittenGroup group = sums();
  group.headers.merge(results_.headers());
  if (!is_split()) return group;
  group.launches.push_back(adding_launch());
  group.code += adding_kernel();
  return group;
}

WrittenGroup ProductCode::write_parts() {
  std::int64_t width = 4;
  while (space_.sizes.columns % width != 0) width /= 2;
  results_.set_width(width);
  return sums();
}

WrittenGroup ProductCode::sums() const {
  WrittenGroup group;
  group.headers = operand_headers(graph_, space_);
  group.headers.insert("cudal1/gemm.cuh");
  group.headers.merge(math_headers(shape_, space_.dtype));
  group.launches.push_back(product_launch());
  group.code = product_kernel();
  const ProductSizes& sizes = space_.sizes;
  if (is_split())
    group.buffers.push_back(
        {parts_name(), DType::f32, {shape_.split, sizes.batches, sizes.rows, sizes.columns}, false});
  return group;
}

std::vector<ValueId> ProductCode::tensors(bool reads_operands, bool writes_results) const {
  std::vector<ValueId> all;
  const auto add = [&](const std::vector<ValueId>& values) {
    for (const ValueId value : values)
      if (std::ranges::find(all, value) == all.end()) all.push_back(value);
  };
  if (reads_operands) {
    add(space_.left.fused.reads());
    add(space_.right.fused.reads());
  }
  if (writes_results) add(results_.tensors());
  return all;
}

std::vector<std::string> ProductCode::arguments(bool reads_operands, bool writes_results) const {
  std::vector<std::string> made;
  for (const ValueId value : tensors(reads_operands, writes_results))
    made.push_back(directive_name(graph_.values[value]));
  if (is_split()) made.push_back(parts_name());
  return made;
}

std::string ProductCode::kernel_head(const std::string& name, const std::string& bounds, bool reads_operands,
                                     bool writes_results) const {
  std::vector<std::string> parameters;
  for (const ValueId value : tensors(reads_operands, writes_results))
    parameters.push_back(kernel_parameter(graph_, results_, space_.results.fused, value, writes_results));
  if (is_split()) parameters.push_back(fmt::format("{}float* __restrict__ parts", writes_results ? "const " : ""));
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n", bounds, name,
                     fmt::join(parameters, ", "));
}

WrittenLaunch ProductCode::product_launch() const {
  const std::int64_t tiles = shape_.tiles_down(space_.sizes) * shape_.tiles_across(space_.sizes);
  return {name_,
          {tiles * space_.sizes.batches, shape_.split, 1},
          {shape_.tile.threads(), 1, 1},
          shared_bytes(shape_, space_.operands()),
          arguments(true, !is_split())};
}

WrittenLaunch ProductCode::adding_launch() const {
  const std::int64_t blocks = (groups() + adding_threads - 1) / adding_threads;
  return {name_ + "_results", {blocks, 1, 1}, {adding_threads, 1, 1}, 0, arguments(false, true)};
}

std::int64_t ProductCode::groups() const {
  return space_.sizes.batches * space_.sizes.rows * space_.sizes.columns / results_.width();
}

std::string ProductCode::product_kernel() const {
  std::string text = kernel_head(name_, launch_bounds(shape_), true, !is_split());
  text += sums_of_tile(graph_, space_, shape_);
  return text + tile_sums() + "}\n";
}

std::string ProductCode::tile_sums() const {
  return loop_over_sums(shape_, space_.sizes, results_.width(),
                        is_split() ? part_stores()
                                   : result_indices(space_.results, results_, "    ") +
                                         element_results(graph_, results_, space_.results.fused, "    "));
}

std::string ProductCode::part_stores() const {
  const ProductSizes& sizes = space_.sizes;
  return fmt::format(
      "    cudal1::store(parts + ((blockIdx.y * {}ull + batch) * {}ull + row) * {}ull + group * {}ull, sum);\n",
      sizes.batches, sizes.rows, sizes.columns, results_.width());
}

//! One kernel more, which adds up the parts in their order, so that results are the same every time.
std::string ProductCode::adding_kernel() const {
  const std::int64_t width = results_.width(), total = groups();
  const std::int64_t across = space_.sizes.columns / width;
  std::string text = kernel_head(name_ + "_results", std::to_string(adding_threads), false, true);
  text += fmt::format("  const unsigned long long item = blockIdx.x * {}ull + threadIdx.x;\n", adding_threads);
  if (total % adding_threads != 0) text += fmt::format("  if (item >= {}ull) return;\n", total);
  text += fmt::format("  auto sum = cudal1::load<{}>(parts + item * {}u);\n#pragma unroll\n", width, width);
  text += fmt::format("  for (int part = 1; part < {}; ++part) {{\n", shape_.split);
  text += fmt::format("    const auto more = cudal1::load<{}>(parts + (part * {}ull + item) * {}u);\n#pragma unroll\n",
                      width, total, width);
  text += fmt::format("    for (int e = 0; e < {}; ++e) sum[e] += more[e];\n  }}\n", width);
  text += fmt::format("  const unsigned group = item % {}u;\n", across);
  text += fmt::format("  const unsigned row = item / {}u % {}u;\n", across, space_.sizes.rows);
  text += fmt::format("  [[maybe_unused]] const unsigned batch = item / {}ull;\n", across * space_.sizes.rows);
  return text + result_indices(space_.results, results_, "  ") +
         element_results(graph_, results_, space_.results.fused, "  ") + "}\n";
}

}  // namespace cudal1
