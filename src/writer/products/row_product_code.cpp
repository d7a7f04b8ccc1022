#include "writer/products/row_product_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "writer/products/operand_code.hpp"
#include "writer/products/result_code.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t bytes_of_partial = 16;  // of the largest Value among operations
constexpr std::int64_t combining_threads = 128, lanes_of_warp = 32;

NamedLoops row_loops(const ProductResults& results) {
  NamedLoops made{results.batches, loop_names("b", results.batches.size())};
  made.loops.insert(made.loops.end(), results.rows.begin(), results.rows.end());
  for (const std::string& name : loop_names("r", results.rows.size())) made.names.push_back(name);
  return made;
}

//! One level deeper; directives of the compiler stay where they are.
std::string indented(const std::string& text) {
  std::string made;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    if (text[begin] != '#') made += "  ";
    made += text.substr(begin, end - begin);
    begin = end;
  }
  return made;
}

}  // namespace

RowProductCode::RowProductCode(const OpGraph& graph, const RowProductSpace& space, const ProductShape& shape,
                               std::string name)
    : RowPasses(graph, space.rows, row_loops(space.product.results),
                {space.product.results.columns, loop_names("c", space.product.results.columns.size())}),
      product_(space.product),
      is_late_(space.is_late),
      shape_(shape),
      name_(std::move(name)) {
  access_.set_width(widest());
  access_.set_wide(access_.reaches_far());
}

//! Of neighbours that a thread takes at once: as the first result that has columns lies in memory, or what is read.
std::int64_t RowProductCode::widest() const {
  constexpr std::int64_t most = 4;
  for (const std::size_t output : outputs_with_columns()) {
    const FusedTerms::Output& first = space_.fused.outputs[output];
    return std::min(most, access_.widest(first.value, first.place));
  }
  std::int64_t width = most;
  while (columns_.loops.back().size % width != 0) width /= 2;
  return width;
}

WrittenGroup RowProductCode::write() {
  WrittenGroup group;
  group.headers = access_.headers();
  group.headers.merge(math_headers(shape_, product_.dtype));
  group.headers.merge(operand_headers(graph_, product_));
  group.headers.insert({"cudal1/gemm.cuh", "cudal1/reduce.cuh"});
  group.launches.push_back(product_launch());
  group.code = product_kernel();
  if (tiles_across() == 1) return group;
  for (std::size_t i = 0; i < space_.reductions.size(); ++i)
    group.buffers.push_back({partial_name(i), DType::u8, {row_count() * tiles_across() * bytes_of_partial}, false});
  group.launches.push_back(combining_launch());
  group.code += combining_kernel();
  return group;
}

std::string RowProductCode::partial_name(std::size_t reduction) const {
  return fmt::format("{}_partial{}", name_, reduction);
}

std::vector<ValueId> RowProductCode::tensors() const {
  std::vector<ValueId> all;
  const auto add = [&](const std::vector<ValueId>& values) {
    for (const ValueId value : values)
      if (std::ranges::find(all, value) == all.end()) all.push_back(value);
  };
  add(product_.left.fused.reads());
  add(product_.right.fused.reads());
  add(access_.tensors());
  return all;
}

std::vector<std::string> RowProductCode::partial_parameters() const {
  std::vector<std::string> made;
  for (std::size_t i = 0; tiles_across() > 1 && i < space_.reductions.size(); ++i)
    made.push_back(fmt::format("void* __restrict__ partial{}", i));
  return made;
}

WrittenLaunch RowProductCode::product_launch() const {
  WrittenLaunch launch{name_,
                       {shape_.tiles_down(sizes()) * tiles_across() * sizes().batches, 1, 1},
                       {shape_.tile.threads(), 1, 1},
                       shared_bytes(shape_, product_.operands()),
                       {}};
  for (const ValueId value : tensors()) launch.arguments.push_back(directive_name(graph_.values[value]));
  for (std::size_t i = 0; tiles_across() > 1 && i < space_.reductions.size(); ++i)
    launch.arguments.push_back(partial_name(i));
  return launch;
}

std::string RowProductCode::product_kernel() {
  std::vector<std::string> parameters;
  for (const ValueId value : tensors())
    parameters.push_back(kernel_parameter(graph_, access_, space_.fused, value, true));
  for (std::string& partial : partial_parameters()) parameters.push_back(std::move(partial));
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}{}}}\n", launch_bounds(shape_),
                     name_, fmt::join(parameters, ", "), sums_of_tile(graph_, product_, shape_), rows_of_block());
}

//! Whole warps come to each reduction, since a tile has a multiple of the rows that the block takes at a time.
std::string RowProductCode::rows_of_block() {
  lanes_ = std::min(lanes_of_warp, groups_of_tile());
  const std::string head = fmt::format(
      "  static_assert(Tile::rows % (Tile::threads / {0}) == 0, \"no warp may leave the loop before another\");\n"
      "  for (unsigned down = threadIdx.x / {0}u; down < Tile::rows; down += Tile::threads / {0}u) {{\n",
      lanes_);
  return head + indented(place_in_tile() + all_passes()) + "  }\n";
}

std::string RowProductCode::place_in_tile() const {
  const bool wide = access_.is_wide();
  std::string text = fmt::format("  const unsigned lane = threadIdx.x % {}u;\n", lanes_);
  if (covers_rows())
    text += "  const unsigned row = first_row + down;\n";
  else
    text += fmt::format(
        "  const bool inside = first_row + down < {0}u;\n  const unsigned row = inside ? first_row + down : {1}u;\n",
        sizes().rows, sizes().rows - 1);
  const ProductResults& results = product_.results;
  return text + index_statements(results.batches, loop_names("b", results.batches.size()), "batch", wide, "  ") +
         index_statements(results.rows, loop_names("r", results.rows.size()), "row", wide, "  ");
}

//! Results that need no reduction are stored by the first pass.
std::string RowProductCode::all_passes() {
  std::vector<std::size_t> early, late;
  for (const std::size_t output : outputs_with_columns()) (is_late_[output] ? late : early).push_back(output);
  const std::string store_if = covers_rows() ? "" : "inside";
  start_row();
  std::string text = pass({reductions_of_pass(0), early, store_if});
  if (tiles_across() > 1) return text + stored_partials();
  for (std::size_t i = 1; i < space_.passes(); ++i) text += pass({reductions_of_pass(i), {}});
  if (!late.empty()) text += pass({{}, late, store_if});
  return text + row_outputs(covers_rows() ? "lane == 0" : "lane == 0 && inside");
}

std::string RowProductCode::stored_partials() const {
  std::string text = fmt::format("  if (lane == 0{}) {{\n", covers_rows() ? "" : " && inside");
  text += fmt::format("    const unsigned long long partial = (batch * {}ull + row) * {}ull + place.column;\n",
                      sizes().rows, tiles_across());
  for (std::size_t i = 0; i < space_.reductions.size(); ++i)
    text += fmt::format("    static_cast<{0}::Value*>(partial{1})[partial] = x{1};\n", operation(i), i);
  return text + "  }\n";
}

std::string RowProductCode::columns(const std::string& body) const {
  const std::int64_t width = access_.width();
  std::vector<Loop> groups = columns_.loops;
  groups.back().size /= width;
  std::string text =
      fmt::format("#pragma unroll\n  for (unsigned k = lane; k < {}u; k += {}u) {{\n", groups_of_tile(), lanes_);
  text += fmt::format("    const unsigned group = first_column / {}u + k;\n", width);
  if (sizes().columns % shape_.tile.columns != 0)
    text += fmt::format("    if (group >= {}u) break;\n", sizes().columns / width);
  text += index_statements(groups, columns_.names, "group", access_.is_wide(), "    ");
  text += fmt::format(
      "    [[maybe_unused]] const auto sum = cudal1::load<{0}>(sums + down * Tile::sums_stride + k * {0}u);\n", width);
  if (width == 1) text += "    [[maybe_unused]] constexpr int e = 0;\n";
  return text + body + "  }\n";
}

std::string RowProductCode::reduced(const std::string& operation, const std::string& value) const {
  if (lanes_ == 1) return value;
  return fmt::format("cudal1::warp_reduce<{}, {}>({})", operation, lanes_, value);
}

std::int64_t RowProductCode::combining_lanes() const {
  return std::min<std::int64_t>(lanes_of_warp,
                                static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(tiles_across()))));
}

WrittenLaunch RowProductCode::combining_launch() const {
  const std::int64_t rows_a_block = combining_threads / combining_lanes();
  WrittenLaunch launch{name_ + "_rows",
                       {(row_count() + rows_a_block - 1) / rows_a_block, 1, 1},
                       {combining_threads, 1, 1},
                       0,
                       access_.arguments()};
  for (std::size_t i = 0; i < space_.reductions.size(); ++i) launch.arguments.push_back(partial_name(i));
  return launch;
}

//! Partials of a row are combined in an order that depends on nothing but their number, so that results are the same
//! every time.
std::string RowProductCode::combining_kernel() {
  lanes_ = combining_lanes();
  const std::int64_t rows_a_block = combining_threads / lanes_;
  std::vector<std::string> parameters = access_.parameters();
  for (std::string& partial : partial_parameters()) parameters.push_back(std::move(partial));
  std::string text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}_rows({}) {{\n",
                                 combining_threads, name_, fmt::join(parameters, ", "));
  text += fmt::format(
      "  const unsigned lane = threadIdx.x % {0}u;\n  const unsigned long long wanted = blockIdx.x * "
      "{1}ull + threadIdx.x / {0}u;\n",
      lanes_, rows_a_block);
  text += fmt::format(
      "  const bool inside = wanted < {0}ull;\n  const unsigned long long number = inside ? wanted : "
      "{1}ull;\n",
      row_count(), row_count() - 1);
  const NamedLoops& rows = rows_;
  text += index_statements(rows.loops, rows.names, "number", true, "  ");
  for (std::size_t i = 0; i < space_.reductions.size(); ++i)
    text += combined_partials(i, fmt::format("number * {}ull", tiles_across()), tiles_across(), lanes_);
  return text + row_outputs("lane == 0 && inside") + "}\n";
}

}  // namespace cudal1
