#include "writer/fused/row_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cudal1 {
namespace {

constexpr std::int64_t bytes_of_partial = 16;  // of the largest Value among operations

std::vector<std::string> numbered(char letter, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", letter, i));
  return names;
}

}  // namespace

RowCode::RowCode(const OpGraph& graph, const RowSpace& space, const RowShape& shape, std::string name)
    : RowPasses(graph, space, {space.rows, numbered('r', space.rows.size())},
                {space.columns, numbered('c', space.columns.size())}),
      shape_(shape),
      name_(std::move(name)) {
  access_.set_width(shape.width);
  const std::int64_t threads = space.row_count() * shape.lanes * shape.split;
  access_.set_wide(access_.reaches_far() || threads >= std::int64_t{1} << 31 ||
                   space.column_count() >= std::int64_t{1} << 31);
}

WrittenGroup RowCode::write() {
  WrittenGroup group;
  group.headers = access_.headers();
  group.headers.insert("cudal1/reduce.cuh");
  for (std::size_t i = 0; shape_.split > 1 && i < space_.reductions.size(); ++i)
    group.buffers.push_back({partial_name(i),
                             DType::u8,
                             {std::max<std::int64_t>(1, space_.row_count() * shape_.split * bytes_of_partial)},
                             false});
  for (std::size_t stage = 0; stage < stages(); ++stage) {
    group.launches.push_back(launch(stage));
    group.code += kernel(stage);
  }
  return group;
}

std::string RowCode::kernel_name(std::size_t stage) const {
  return stages() == 1 ? name_ : fmt::format("{}_{}", name_, stage + 1);
}

std::string RowCode::partial_name(std::size_t reduction) const { return fmt::format("{}_partial{}", name_, reduction); }

WrittenLaunch RowCode::launch(std::size_t stage) const {
  const std::int64_t blocks = (space_.row_count() + shape_.rows_a_block() - 1) / shape_.rows_a_block();
  WrittenLaunch launch{kernel_name(stage),
                       {std::max<std::int64_t>(1, blocks), shape_.split, 1},
                       {shape_.block, 1, 1},
                       0,
                       access_.arguments()};
  if (is_last(stage) && !space_.some_output_has_columns()) launch.grid[1] = 1;  // no part of a row has work of its own
  for (std::size_t i = 0; shape_.split > 1 && i < space_.reductions.size(); ++i)
    if (knows(i, stage)) launch.arguments.push_back(partial_name(i));
  return launch;
}

std::string RowCode::kernel(std::size_t stage) {
  std::vector<std::string> parameters = access_.parameters();
  for (std::size_t i = 0; shape_.split > 1 && i < space_.reductions.size(); ++i)
    if (knows(i, stage)) parameters.push_back(fmt::format("void* __restrict__ partial{}", i));
  std::string text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n", shape_.block,
                                 kernel_name(stage), fmt::join(parameters, ", "));
  if (space_.row_count() == 0) return text + "}\n";
  start_row();
  kept_.clear();
  text += places_of_thread() + earlier_results(stage);
  if (stages() == 1)
    for (std::size_t pass = 0; pass < space_.passes(); ++pass) text += reduction_pass(pass);
  else if (!is_last(stage))
    text += reduction_pass(stage);
  if (is_last(stage)) text += output_pass() + row_outputs(who_writes());
  return text + "}\n";
}

//! Which row, which part of it.
std::string RowCode::places_of_thread() const {
  const std::string_view type = access_.index_type(), suffix = access_.suffix();
  const std::int64_t rows = shape_.rows_a_block();
  const std::string in_block = shape_.across ? fmt::format("threadIdx.x % {}u", rows)
                               : rows == 1   ? std::string("0u")
                                             : fmt::format("threadIdx.x / {}u", shape_.lanes);
  const std::string lane = shape_.across ? fmt::format("threadIdx.x / {}u", rows)
                           : rows == 1   ? std::string("threadIdx.x")
                                         : fmt::format("threadIdx.x % {}u", shape_.lanes);
  std::string text = fmt::format("  const {} lane = {};\n", type, lane);
  text +=
      fmt::format("  const {} wanted = static_cast<{}>(blockIdx.x) * {}{} + {};\n", type, type, rows, suffix, in_block);
  if (covers_rows())
    text += fmt::format("  const {} row = wanted;\n", type);
  else
    text += fmt::format("  const bool inside = wanted < {}{};\n  const {} row = inside ? wanted : {}{};\n",
                        space_.row_count(), suffix, type, space_.row_count() - 1, suffix);
  text += index_statements(space_.rows, rows_.names, "row", access_.is_wide(), "  ");
  if (shape_.split > 1) {
    text += fmt::format("  const {} begin = static_cast<{}>(blockIdx.y) * {}{};\n", type, type, chunk(), suffix);
    text += fmt::format("  const {} end = begin + {}{} < {}{} ? begin + {}{} : {}{};\n", type, chunk(), suffix,
                        groups(), suffix, chunk(), suffix, groups(), suffix);
  }
  return text;
}

std::string RowCode::reduced(const std::string& operation, const std::string& value) const {
  if (shape_.lanes == 1) return value;
  if (shape_.across)
    return fmt::format("cudal1::block_reduce_across<{}, {}, {}>({})", operation, shape_.rows_a_block(), shape_.lanes,
                       value);
  const std::string_view function = shape_.lanes <= 32 ? "warp_reduce" : "block_reduce";
  return fmt::format("cudal1::{}<{}, {}>({})", function, operation, shape_.lanes, value);
}

//! What the blocks of a row have found in the kernels before.
std::string RowCode::earlier_results(std::size_t stage) const {
  std::string text;
  if (shape_.split == 1) return text;
  for (std::size_t i = 0; i < space_.reductions.size(); ++i) {
    if (space_.pass_of[i] >= stage) continue;
    text += combined_partials(i, fmt::format("row * {}", shape_.split), shape_.split, shape_.lanes);
  }
  return text;
}

std::string RowCode::loaded_name(int term) const {
  return is_kept(term) ? fmt::format("k{}[j]", term) : fmt::format("v{}", term);
}

//! Through the columns of this thread.
std::string RowCode::columns(const std::string& body) const {
  const std::string_view type = access_.index_type(), suffix = access_.suffix();
  std::vector<Loop> in_groups = space_.columns;
  in_groups.back().size /= shape_.width;
  const std::string text = index_statements(in_groups, columns_.names, "k", access_.is_wide(), "    ") + body + "  }\n";
  if (shape_.split > 1)
    return fmt::format("#pragma unroll 4\n  for ({} k = begin + lane; k < end; k += {}) {{\n", type, shape_.lanes) +
           text;
  if (!shape_.keep)
    return fmt::format("#pragma unroll 4\n  for ({} k = lane; k < {}{}; k += {}) {{\n", type, groups(), suffix,
                       shape_.lanes) +
           text;
  std::string head = fmt::format("#pragma unroll\n  for (int j = 0; j < {}; ++j) {{\n", items());
  head += fmt::format("    const {} k = lane + {}{} * j;\n", type, shape_.lanes, suffix);
  if (groups() % shape_.lanes == 0) return head + text;
  head += fmt::format("    if (j < {} || k < {}{}) {{\n", groups() / shape_.lanes, groups(), suffix);
  return head + text + "  }\n";
}

//! Columns that several passes read, loaded all at once, so that many loads are on their way before the first is used.
std::string RowCode::kept_columns(const std::vector<int>& targets) {
  if (!shape_.keep || items() == 0) return {};
  std::string declarations, body;
  for (const int load : space_.column_loads(targets)) {
    if (is_kept(load) || (shape_.width > 1 && !access_.is_vector(load))) continue;
    kept_.insert(load);
    const auto type = cuda_element_name(graph_.values[space_.fused.terms[load].value].meta.dtype);
    declarations += shape_.width > 1
                        ? fmt::format("  cudal1::Vector<{}, {}> k{}[{}];\n", type, shape_.width, load, items())
                        : fmt::format("  {} k{}[{}];\n", type, load, items());
    body += fmt::format("    {} = {};\n", loaded_name(load), access_.load_of_all(load));
  }
  return body.empty() ? std::string() : declarations + columns(body);
}

std::string RowCode::reduction_pass(std::size_t number) {
  const std::vector<std::size_t> reductions = reductions_of_pass(number);
  const std::string kept = kept_columns(operands_of(reductions));
  const std::string text = pass({reductions, {}}, kept);
  return shape_.split == 1 ? text : text + stored_partials(number);
}

//! What this block has found in its part of the row.
std::string RowCode::stored_partials(std::size_t pass) const {
  std::string text;
  for (std::size_t i = 0; i < space_.reductions.size(); ++i)
    if (space_.pass_of[i] == pass)
      text += fmt::format("  if (lane == 0{0}) static_cast<{1}::Value*>(partial{2})[row * {3} + blockIdx.y] = x{2};\n",
                          covers_rows() ? "" : " && inside", operation(i), i, shape_.split);
  return text;
}

std::string RowCode::output_pass() {
  const std::vector<std::size_t> outputs = outputs_with_columns();
  if (outputs.empty()) return {};
  const std::string text = pass({{}, outputs});
  return covers_rows() ? text : fmt::format("  if (inside) {{\n{}  }}\n", text);
}

//! Of what a row has one of.
std::string RowCode::who_writes() const {
  std::string condition = "lane == 0";
  if (!covers_rows()) condition += " && inside";
  if (shape_.split > 1) condition += " && blockIdx.y == 0";
  return condition;
}

}  // namespace cudal1
