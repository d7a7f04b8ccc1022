#include "writer/products/result_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "writer/fused/element_code.hpp"

namespace cudal1 {

std::vector<std::string> loop_names(const char* letter, std::size_t count) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(fmt::format("{}{}", letter, i));
  return made;
}

std::vector<std::string> names_of(const std::vector<Loop>& batches, const std::vector<Loop>& lines, const char* line,
                                  const std::vector<Loop>& others, const char* other) {
  std::vector<std::string> made = loop_names("b", batches.size());
  for (const std::string& name : loop_names(line, lines.size())) made.push_back(name);
  for (const std::string& name : loop_names(other, others.size())) made.push_back(name);
  return made;
}

std::vector<std::string> result_names(const ProductResults& results) {
  return names_of(results.batches, results.rows, "r", results.columns, "c");
}

std::string math_name(const ProductShape& shape) {
  constexpr const char* texts[] = {
      "Fp32", "Tf32x3", "HalfInputs", "Tf32x3Groups", "RoundedInputs<cudal1::ToTf32>", "RoundedInputs<cudal1::ToBf16>"};
  if (shape.math == ProductMath::tf32x3 && shape.loop != WarpLoop{})
    return fmt::format("Tf32x3By<{}, {}>", shape.loop.in_a_row, shape.loop.ahead);
  if (shape.math == ProductMath::wgmma && shape.loop.in_a_row != 64)
    return fmt::format("Tf32x3GroupsBy<{}>", shape.loop.in_a_row);
  return texts[static_cast<int>(shape.math)];
}

std::set<std::string> math_headers(const ProductShape& shape, DType dtype) {
  std::set<std::string> headers;
  if (shape.math == ProductMath::wgmma) headers.insert("cudal1/gemm_groups.cuh");
  if (dtype == DType::f16) headers.insert("cudal1/gemm_half.cuh");
  if (dtype == DType::bf16) headers.insert("cudal1/gemm_bfloat16.cuh");
  return headers;
}

std::string launch_bounds(const ProductShape& shape) {
  const std::string threads = std::to_string(shape.tile.threads());
  return shape.blocks > 1 ? fmt::format("{}, {}", threads, shape.blocks) : threads;
}

std::string kernel_parameter(const OpGraph& graph, const AccessCode& access, const FusedTerms& fused, ValueId value,
                             bool writes) {
  const std::vector<ValueId> reads = fused.reads();
  const bool written = writes && std::ranges::count(fused.outputs, value, &FusedTerms::Output::value) > 0;
  const bool both = written && std::ranges::count(reads, value) > 0;
  return fmt::format("{}{}* {}{}", written ? "" : "const ", cuda_element_name(graph.values[value].meta.dtype),
                     both ? "" : "__restrict__ ", access.variable(value));
}

std::string tile_of_block(const ProductShape& shape, const ProductSizes& sizes) {
  const ProductTile& tile = shape.tile;
  std::string text = fmt::format("  using Tile = cudal1::ProductTile<{}, {}, {}, {}, {}, {}>;\n", tile.rows,
                                 tile.columns, tile.depth, tile.warps_down, tile.warps_across, shape.stages);
  text += "  extern __shared__ __align__(16) unsigned char cudal1_shared[];\n";
  text += fmt::format("  const auto place = cudal1::tile_place<{}, {}, {}>(blockIdx.x);\n", shape.tiles_down(sizes),
                      shape.tiles_across(sizes), shape.swizzle);
  text += "  const unsigned first_row = Tile::rows * place.row, first_column = Tile::columns * place.column;\n";
  return text + "  [[maybe_unused]] const unsigned batch = place.batch;\n";
}

std::string loop_over_sums(const ProductShape& shape, const ProductSizes& sizes, std::int64_t width,
                           const std::string& body) {
  const std::int64_t across = shape.tile.columns / width;
  std::string text = fmt::format(
      "  for (unsigned item = threadIdx.x; item < {}u; item += Tile::threads) {{\n"
      "    const unsigned row = first_row + item / {}u, group = first_column / {}u + item % {}u;\n",
      shape.tile.rows * across, across, width, across);
  std::vector<std::string> outside;
  if (sizes.rows % shape.tile.rows != 0) outside.push_back(fmt::format("row >= {}u", sizes.rows));
  if (sizes.columns % shape.tile.columns != 0) outside.push_back(fmt::format("group >= {}u", sizes.columns / width));
  if (!outside.empty()) text += fmt::format("    if ({}) continue;\n", fmt::join(outside, " || "));
  text +=
      fmt::format("    const auto sum = cudal1::load<{}>(sums + item / {}u * Tile::sums_stride + item % {}u * {}u);\n",
                  width, across, across, width);
  return text + body + "  }\n";
}

std::string result_indices(const ProductResults& results, const AccessCode& access, const std::string& indent) {
  std::vector<Loop> groups = results.columns;
  groups.back().size /= access.width();
  const bool wide = access.is_wide();
  return index_statements(results.batches, loop_names("b", results.batches.size()), "batch", wide, indent) +
         index_statements(results.rows, loop_names("r", results.rows.size()), "row", wide, indent) +
         index_statements(groups, loop_names("c", groups.size()), "group", wide, indent);
}

std::string element_results(const OpGraph& graph, const AccessCode& access, const FusedTerms& fused,
                            const std::string& indent) {
  std::string before, after, stores;
  for (std::size_t i = 0; i < fused.terms.size(); ++i)
    if (fused.terms[i].kind == TermKind::load) before += access.load_before(static_cast<int>(i), indent);
  const auto given = [&](int term) -> std::optional<std::string> {
    const TermKind kind = fused.terms[term].kind;
    if (kind != TermKind::load && kind != TermKind::position) return std::nullopt;
    return access.element(term, fmt::format("v{}", term));
  };
  ElementCode code(fused, given, indent + "  ");
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    const std::string value = code[fused.outputs[i].term];
    if (!access.output_is_vector(i)) {
      stores += access.store_element(i, value, indent + "  ");
      continue;
    }
    const DType dtype = graph.values[fused.outputs[i].value].meta.dtype;
    before += access.vector_variable(i, indent);
    stores += fmt::format("{}  o{}[e] = {};\n", indent, i, stored(value, dtype));
    after += access.store_vector(i, indent);
  }
  return fmt::format("{}#pragma unroll\n{}for (int e = 0; e < {}; ++e) {{\n{}{}{}}}\n{}", before, indent,
                     access.width(), code.text(), stores, indent, after);
}

}  // namespace cudal1
