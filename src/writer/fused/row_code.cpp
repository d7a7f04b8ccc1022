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

template <class T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

RowCode::RowCode(const OpGraph& graph, const RowSpace& space, const RowShape& shape, std::string name)
    : graph_(graph),
      space_(space),
      shape_(shape),
      name_(std::move(name)),
      row_names_(numbered('r', space.rows.size())),
      column_names_(numbered('c', space.columns.size())),
      access_(graph, space.fused, joined(space.rows, space.columns), joined(row_names_, column_names_)) {
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
  row_code_ = std::make_unique<ElementCode>(
      space_.fused,
      [this](int term) -> std::optional<std::string> {
        const TermKind kind = space_.fused.terms[term].kind;
        if (kind == TermKind::map) return std::nullopt;
        if (kind != TermKind::reduce) return access_.element_now(term);
        return fmt::format("x{}", std::ranges::find(space_.reductions, term) - space_.reductions.begin());
      },
      "  ");
  row_text_written_ = 0;
  kept_.clear();
  text += places_of_thread() + earlier_results(stage);
  if (stages() == 1)
    for (std::size_t pass = 0; pass < space_.passes(); ++pass) text += reduction_pass(pass);
  else if (!is_last(stage))
    text += reduction_pass(stage);
  if (is_last(stage)) text += output_pass() + row_outputs();
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
  text += index_statements(space_.rows, row_names_, "row", access_.is_wide(), "  ");
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
    const std::string& operation = space_.fused.terms[space_.reductions[i]].code;
    text += fmt::format("  auto a{} = {}::identity();\n", i, operation);
    text += fmt::format("  for ({} k = lane; k < {}; k += {})\n", access_.index_type(), shape_.split, shape_.lanes);
    text += fmt::format("    a{0} = {1}::combine(a{0}, static_cast<const {1}::Value*>(partial{0})[row * {2} + k]);\n",
                        i, operation, shape_.split);
    text += fmt::format("  const auto x{0} = {1};\n", i, reduced(operation, fmt::format("a{}", i)));
  }
  return text;
}

std::string RowCode::loaded_name(int term) const {
  return is_kept(term) ? fmt::format("k{}[j]", term) : fmt::format("v{}", term);
}

std::optional<std::string> RowCode::given(int index) {
  if (!space_.in_columns[index]) return (*row_code_)[index];
  const TermKind kind = space_.fused.terms[index].kind;
  if (kind == TermKind::map) return std::nullopt;
  return access_.element(index, loaded_name(index));
}

std::string RowCode::new_row_text() {
  const std::string text = row_code_->text().substr(row_text_written_);
  row_text_written_ = row_code_->text().size();
  return text;
}

//! Those that are not in registers.
std::string RowCode::loads(const std::set<int>& terms) const {
  std::string text;
  for (const int term : terms)
    if (!is_kept(term)) text += access_.load_before(term, "    ");
  return text;
}

//! Through the columns of this thread.
std::string RowCode::columns(const std::string& body) const {
  const std::string_view type = access_.index_type(), suffix = access_.suffix();
  std::vector<Loop> in_groups = space_.columns;
  in_groups.back().size /= shape_.width;
  const std::string text = index_statements(in_groups, column_names_, "k", access_.is_wide(), "    ") + body + "  }\n";
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

//! `element` is done for each of a thread's neighbours.
std::string RowCode::loop(const std::vector<int>& targets, const std::string& body_before, const std::string& element,
                          const std::string& body_after) {
  std::string body = loads(space_.column_loads(targets)) + body_before;
  if (shape_.width == 1)
    body += element;
  else
    body += fmt::format("#pragma unroll\n    for (int e = 0; e < {}; ++e) {{\n{}    }}\n", shape_.width, element);
  return columns(body + body_after);
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

std::string RowCode::reduction_pass(std::size_t pass) {
  std::vector<int> targets;
  std::string elements, starts, results;
  ElementCode code(
      space_.fused, [this](int term) { return given(term); }, "      ");
  for (std::size_t i = 0; i < space_.reductions.size(); ++i)
    if (space_.pass_of[i] == pass)
      for (const int operand : space_.fused.terms[space_.reductions[i]].operands) targets.push_back(operand);
  std::string text = kept_columns(targets);
  for (std::size_t i = 0; i < space_.reductions.size(); ++i) {
    if (space_.pass_of[i] != pass) continue;
    const Term& reduction = space_.fused.terms[space_.reductions[i]];
    std::vector<std::string> operands;
    for (const int operand : reduction.operands) operands.push_back(code[operand]);
    starts += fmt::format("  auto a{} = {}::identity();\n", i, reduction.code);
    const std::string element = fmt::format("{}", fmt::join(operands, ", "));
    elements += fmt::format("      a{0} = {1};\n", i, accumulated(reduction.code, fmt::format("a{}", i), element));
    results += fmt::format("  const auto x{} = {};\n", i, reduced(reduction.code, fmt::format("a{}", i)));
  }
  text = new_row_text() + text + starts + loop(targets, "", code.text() + elements, "") + results;
  return shape_.split == 1 ? text : text + stored_partials(pass);
}

//! What this block has found in its part of the row.
std::string RowCode::stored_partials(std::size_t pass) const {
  std::string text;
  for (std::size_t i = 0; i < space_.reductions.size(); ++i)
    if (space_.pass_of[i] == pass)
      text += fmt::format("  if (lane == 0{0}) static_cast<{1}::Value*>(partial{2})[row * {3} + blockIdx.y] = x{2};\n",
                          covers_rows() ? "" : " && inside", space_.fused.terms[space_.reductions[i]].code, i,
                          shape_.split);
  return text;
}

std::string RowCode::output_pass() {
  std::vector<int> targets;
  std::string before, after, stores;
  ElementCode code(
      space_.fused, [this](int term) { return given(term); }, "      ");
  for (std::size_t i = 0; i < space_.fused.outputs.size(); ++i) {
    if (!space_.output_has_columns(i)) continue;
    const FusedTerms::Output& output = space_.fused.outputs[i];
    targets.push_back(output.term);
    const std::string value = code[output.term];
    if (!access_.output_is_vector(i)) {
      stores += access_.store_element(i, value, "      ");
      continue;
    }
    before += access_.vector_variable(i, "    ");
    after += access_.store_vector(i, "    ");
    stores += fmt::format("      o{}[e] = {};\n", i, stored(value, graph_.values[output.value].meta.dtype));
  }
  if (targets.empty()) return {};
  const std::string rows = new_row_text();
  const std::string text = loop(targets, before, code.text() + stores, after);
  return rows + (covers_rows() ? text : fmt::format("  if (inside) {{\n{}  }}\n", text));
}

//! What a row has one of, written by one of its threads.
std::string RowCode::row_outputs() const {
  std::string text;
  for (std::size_t i = 0; i < space_.fused.outputs.size(); ++i) {
    if (space_.output_has_columns(i)) continue;
    const FusedTerms::Output& output = space_.fused.outputs[i];
    std::string condition = "lane == 0";
    if (!covers_rows()) condition += " && inside";
    if (shape_.split > 1) condition += " && blockIdx.y == 0";
    for (std::size_t row = 0; row < space_.rows.size(); ++row)
      if (space_.rows[row].size > 1 && space_.rows[row].stride_of(output.place) == 0)
        condition += fmt::format(" && {} == 0", row_names_[row]);
    ElementCode code(
        space_.fused,
        [this](int term) -> std::optional<std::string> {
          const TermKind kind = space_.fused.terms[term].kind;
          if (kind == TermKind::map) return std::nullopt;
          if (kind != TermKind::reduce) return access_.element_now(term);
          return fmt::format("x{}", std::ranges::find(space_.reductions, term) - space_.reductions.begin());
        },
        "    ");
    const std::string value = code[output.term];
    text += fmt::format("  if ({}) {{\n{}{}  }}\n", condition, code.text(), access_.store_first(i, value, "    "));
  }
  return text;
}

}  // namespace cudal1
