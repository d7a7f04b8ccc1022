#include "writer/products/product_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "writer/fused/element_code.hpp"
#include "writer/products/result_code.hpp"
#include "writer/products/triangle.hpp"

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
  WrittenGroup group;
  group.headers = results_.headers();
  group.headers.insert("cudal1/gemm.cuh");
  group.headers.merge(math_headers(shape_, space_.dtype));
  for (const ProductOperand* operand : {&space_.left, &space_.right})
    group.headers.merge(AccessCode(graph_, operand->fused, operand->loops(), {}).headers());
  group.launches.push_back(product_launch());
  group.code = product_kernel();
  if (!is_split()) return group;
  const ProductSizes& sizes = space_.sizes;
  group.buffers.push_back({parts_name(), DType::f32, {shape_.split, sizes.batches, sizes.rows, sizes.columns}, false});
  group.launches.push_back(adding_launch());
  group.code += adding_kernel();
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
  text += tile_of_block(shape_, space_.sizes);
  text += operand(space_.left, "left", space_.sizes.rows);
  text += operand(space_.right, "right", space_.sizes.columns);
  text += depth_range();
  text += fmt::format(
      "  const float* sums = cudal1::tiled_product<Tile, cudal1::{}>(cudal1_shared, left, right, first_row, "
      "first_column, begin, end);\n",
      math_name(shape_));
  return text + tile_sums() + "}\n";
}

//! Which part of the depth the block adds up.
std::string ProductCode::depth_range() const {
  const std::int64_t part = shape_.part(space_.sizes), depth = space_.sizes.depth;
  const std::string begin = is_split() ? fmt::format("static_cast<int>(blockIdx.y) * {}", part) : "0";
  std::string end = fmt::format("{}", depth);
  if (is_split()) end = fmt::format("begin + {} < {} ? begin + {} : {}", part, depth, part, depth);
  if (const auto triangle = kept_triangle(space_.results))
    end = fmt::format("!({}) ? begin : {}", triangle->is_needed(shape_.tile), end);
  return fmt::format("  const int begin = {};\n  const int end = {};\n", begin, end);
}

std::string ProductCode::operand(const ProductOperand& operand, const std::string& name, std::int64_t lines) const {
  if (!operand.is_direct) return computed_operand(operand, name, lines);
  const Term& load = operand.load();
  const bool turned = shape_.math == ProductMath::fp32 && operand.along_depth;
  AccessCode access(graph_, operand.fused, operand.loops(),
                    names_of(operand.batches, operand.lines, "l", operand.depth, "k"));
  access.set_wide(true);
  Affine start = load.place;  // of the batch; lines and depth are the operand's own business
  std::erase_if(start.factors, [&](const auto& entry) {
    return std::ranges::none_of(operand.batches, [&](const Loop& loop) {
      return std::ranges::find(loop.atoms, entry.first) != loop.atoms.end();
    });
  });
  const std::string type =
      fmt::format("const cudal1::StridedOperand<{}, {}, {}, {}, {}, {}>", cuda_element_name(space_.dtype), lines,
                  space_.sizes.depth, operand.along_depth, operand.stride, turned ? 1 : operand.vector);
  const std::string address = access.variable(load.value) + (start == Affine{} ? "" : " + " + access.place(start));
  if (start.factors.empty()) return fmt::format("  {} {}{{{}}};\n", type, name, address);
  return fmt::format("  {} {}{{[&] {{\n{}    return {};\n  }}()}};\n", type, name,
                     index_statements(operand.batches, loop_names("b", operand.batches.size()), "batch", true, "    "),
                     address);
}

std::string ProductCode::computed_operand(const ProductOperand& operand, const std::string& name,
                                          std::int64_t lines) const {
  AccessCode access(graph_, operand.fused, operand.loops(),
                    names_of(operand.batches, operand.lines, "l", operand.depth, "k"));
  access.set_wide(access.reaches_far());
  const auto type = cuda_element_name(space_.dtype);
  std::string text = fmt::format(
      "  const auto {} = cudal1::computed_operand<{}, {}, {}, {}>([&](unsigned line, unsigned depth) -> {} {{\n", name,
      type, lines, space_.sizes.depth, operand.along_depth, type);
  text += index_statements(operand.batches, loop_names("b", operand.batches.size()), "batch", access.is_wide(), "    ");
  text += index_statements(operand.lines, loop_names("l", operand.lines.size()), "line", access.is_wide(), "    ");
  text += index_statements(operand.depth, loop_names("k", operand.depth.size()), "depth", access.is_wide(), "    ");
  const auto given = [&](int term) -> std::optional<std::string> {
    const TermKind kind = operand.fused.terms[term].kind;
    if (kind != TermKind::load && kind != TermKind::position) return std::nullopt;
    return access.element_now(term);
  };
  ElementCode code(operand.fused, given, "    ");
  const std::string value = code[operand.term];
  return text + code.text() + fmt::format("    return {};\n  }});\n", stored(value, space_.dtype));
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
