#include "writer/fused/scan_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cudal1 {
namespace {

constexpr std::int64_t bytes_of_partial = 16;  // of the largest Value among operations

std::vector<std::string> row_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("r{}", i));
  return names;
}

template <class T>
std::vector<T> with(std::vector<T> items, T last) {
  items.push_back(std::move(last));
  return items;
}

}  // namespace

ScanCode::ScanCode(const OpGraph& graph, const ScanSpace& space, const ScanShape& shape, std::string name)
    : graph_(graph),
      space_(space),
      shape_(shape),
      name_(std::move(name)),
      row_names_(row_names(space.rows.size())),
      access_(graph, space.fused, with(space.rows, space.column), with(row_names_, std::string("c0"))) {
  access_.set_width(shape.width);
  const std::int64_t threads = space.row_count() * shape.lanes * shape.split;
  access_.set_wide(access_.reaches_far() || threads >= std::int64_t{1} << 31 ||
                   space.column.size + shape.lanes >= std::int64_t{1} << 31);
}

WrittenGroup ScanCode::write() {
  WrittenGroup group;
  group.headers = access_.headers();
  group.headers.insert("cudal1/reduce.cuh");
  if (shape_.split > 1) {
    for (std::size_t i = 0; i < space_.scans.size(); ++i)
      group.buffers.push_back({partial_name(i),
                               DType::u8,
                               {std::max<std::int64_t>(1, space_.row_count() * shape_.split * bytes_of_partial)},
                               false});
    group.launches.push_back(launch(name_ + "_totals"));
    group.code += totals_kernel();
  }
  group.launches.push_back(launch(name_));
  group.code += scan_kernel();
  return group;
}

std::string ScanCode::partial_name(std::size_t scan) const { return fmt::format("{}_partial{}", name_, scan); }

WrittenLaunch ScanCode::launch(const std::string& kernel) const {
  const std::int64_t blocks = (space_.row_count() + shape_.rows_a_block() - 1) / shape_.rows_a_block();
  WrittenLaunch launch{
      kernel, {std::max<std::int64_t>(1, blocks), shape_.split, 1}, {shape_.block, 1, 1}, 0, access_.arguments()};
  for (std::size_t i = 0; shape_.split > 1 && i < space_.scans.size(); ++i) launch.arguments.push_back(partial_name(i));
  return launch;
}

std::string ScanCode::signature(const std::string& kernel) const {
  std::vector<std::string> parameters = access_.parameters();
  for (std::size_t i = 0; shape_.split > 1 && i < space_.scans.size(); ++i)
    parameters.push_back(fmt::format("void* __restrict__ partial{}", i));
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n", shape_.block, kernel,
                     fmt::join(parameters, ", "));
}

//! Which row, which part of it.
std::string ScanCode::places_of_thread() const {
  const std::string_view type = access_.index_type(), suffix = access_.suffix();
  const std::int64_t rows = shape_.rows_a_block();
  const std::string in_block =
      shape_.across ? fmt::format("threadIdx.x % {}u", rows) : fmt::format("threadIdx.x / {}u", shape_.lanes);
  const std::string lane =
      shape_.across ? fmt::format("threadIdx.x / {}u", rows) : fmt::format("threadIdx.x % {}u", shape_.lanes);
  std::string text = fmt::format("  const {} lane = {};\n", type, lane);
  text +=
      fmt::format("  const {} wanted = static_cast<{}>(blockIdx.x) * {}{} + {};\n", type, type, rows, suffix, in_block);
  text += fmt::format("  const bool inside = wanted < {}{};\n  const {} row = inside ? wanted : {}{};\n",
                      space_.row_count(), suffix, type, space_.row_count() - 1, suffix);
  text += index_statements(space_.rows, row_names_, "row", access_.is_wide(), "  ");
  const std::string part = shape_.across ? "lane" : fmt::format("static_cast<{}>(blockIdx.y)", type);
  text += fmt::format("  const {} begin = {} * {}{};\n", type, part, chunk(), suffix);
  return text + fmt::format("  const {} end = begin + {}{} < {}{} ? begin + {}{} : {}{};\n", type, chunk(), suffix,
                            groups(), suffix, chunk(), suffix, groups(), suffix);
}

//! What a scan starts from.
std::string ScanCode::carries() const {
  std::string text;
  for (std::size_t i = 0; i < space_.scans.size(); ++i)
    text += fmt::format("  auto carry{} = {}::identity();\n", i, operation(i));
  return text;
}

//! The index of a group of columns, in the order of the scan.
std::string ScanCode::column(const std::string& head, const std::string& body) const {
  const std::string index = space_.backwards ? fmt::format("{}{} - k", groups() - 1, access_.suffix()) : "k";
  return fmt::format("{}    const {} c0 = {};\n{}  }}\n", head, access_.index_type(), index, body);
}

//! Each of a thread's neighbours, in the order of the scan.
std::string ScanCode::neighbours(const std::string& body) const {
  if (shape_.width == 1) return fmt::format("    {{\n      [[maybe_unused]] constexpr int e = 0;\n{}    }}\n", body);
  const std::string order = space_.backwards ? fmt::format("for (int e = {}; e >= 0; --e)", shape_.width - 1)
                                             : fmt::format("for (int e = 0; e < {}; ++e)", shape_.width);
  return fmt::format("#pragma unroll\n    {} {{\n{}    }}\n", order, body);
}

std::string ScanCode::loads(const std::vector<int>& targets) const {
  std::set<int> seen;
  std::vector<int> open = targets;
  std::string text;
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    if (!seen.insert(index).second) continue;
    const Term& term = space_.fused.terms[index];
    if (term.kind == TermKind::load) text += access_.load_before(index, "    ");
    if (term.kind != TermKind::scan) open.insert(open.end(), term.operands.begin(), term.operands.end());
  }
  return text;
}

std::optional<std::string> ScanCode::given(int index) const {
  const TermKind kind = space_.fused.terms[index].kind;
  if (kind == TermKind::map) return std::nullopt;
  if (kind != TermKind::scan) return access_.element(index, fmt::format("v{}", index));
  const auto scan = std::ranges::find(space_.scans, index) - space_.scans.begin();
  return shape_.across ? fmt::format("carry{}", scan) : fmt::format("s{}[e]", scan);
}

//! What all elements of a block's part of the row give.
std::string ScanCode::totals_kernel() {
  std::string text = signature(name_ + "_totals");
  if (is_empty()) return text + "}\n";
  text += places_of_thread() + carries();
  std::string body, stores;
  std::vector<int> targets;
  ElementCode code(
      space_.fused, [this](int term) { return given(term); }, "      ");
  for (std::size_t i = 0; i < space_.scans.size(); ++i) {
    targets.push_back(element(i));
    const std::string value = code[element(i)];
    body += fmt::format("      carry{} = {};\n", i, accumulated(operation(i), fmt::format("carry{}", i), value));
    const std::string_view reduce = shape_.lanes == 32 ? "warp_reduce" : "block_reduce";
    stores += fmt::format("  const auto total{0} = cudal1::{1}<{2}, {3}>(carry{0});\n", i, reduce, operation(i),
                          shape_.lanes);
    stores += fmt::format(
        "  if (lane == 0 && inside) static_cast<{1}::Value*>(partial{0})[row * {2} + blockIdx.y] = total{0};\n", i,
        operation(i), shape_.split);
  }
  const std::string head = fmt::format("#pragma unroll 4\n  for ({} k = begin + lane; k < end; k += {}) {{\n",
                                       access_.index_type(), shape_.lanes);
  return text + column(head, loads(targets) + neighbours(code.text() + body)) + stores + "}\n";
}

//! What the parts of the row before this block's give.
std::string ScanCode::sums_before() const {
  std::string text;
  for (std::size_t i = 0; shape_.split > 1 && i < space_.scans.size(); ++i) {
    text += fmt::format("  for (unsigned part = lane; part < blockIdx.y; part += {})\n", shape_.lanes);
    text += fmt::format(
        "    carry{0} = {1}::combine(carry{0}, static_cast<const {1}::Value*>(partial{0})[row * {2} + "
        "part]);\n",
        i, operation(i), shape_.split);
    text += fmt::format("  carry{0} = cudal1::{1}<{2}, {3}>(carry{0});\n", i,
                        shape_.lanes == 32 ? "warp_reduce" : "block_reduce", operation(i), shape_.lanes);
  }
  return text;
}

std::string ScanCode::scan_kernel() {
  std::string text = signature(name_);
  if (is_empty()) return text + "}\n";
  text += places_of_thread() + carries() + sums_before();
  return text + (shape_.across ? parts() : tiles()) + "}\n";
}

//! All threads of a row take the next columns together; threads without any bring nothing.
std::string ScanCode::tiles() {
  const std::string_view type = access_.index_type();
  std::string body;
  for (std::size_t i = 0; i < space_.scans.size(); ++i) body += scan_of_tile(i);
  body += outputs(covers_rows() ? "there" : "there && inside");
  std::string head = fmt::format("  for ({} tile = begin; tile < end; tile += {}) {{\n", type, shape_.lanes);
  head += "    const bool there = tile + lane < end;\n";
  head += fmt::format("    const {} k = there ? tile + lane : begin;\n", type);
  return column(head, body);
}

std::string ScanCode::scan_of_tile(std::size_t i) {
  ElementCode code(
      space_.fused, [this](int term) { return given(term); }, "      ");
  const std::string value = code[element(i)];
  const std::string& op = operation(i);
  std::string text = fmt::format("    {1}::Value s{0}[{2}];\n    auto a{0} = {1}::identity();\n", i, op, shape_.width);
  std::string body = code.text();
  body += fmt::format("      if (there) a{0} = {1};\n      s{0}[e] = a{0};\n", i,
                      accumulated(op, fmt::format("a{}", i), value));
  text += fmt::format("    {{\n{}{}    }}\n", loads({element(i)}), neighbours(body));
  if (shape_.lanes == 32) {
    text += fmt::format("    const auto before{0} = cudal1::warp_exclusive_scan<{1}>(a{0});\n", i, op);
    text += fmt::format("    const auto total{0} = cudal1::shuffle({1}::combine(before{0}, a{0}), 31);\n", i, op);
  } else {
    text += fmt::format("    {1}::Value total{0};\n", i, op);
    text += fmt::format("    const auto before{0} = cudal1::block_exclusive_scan<{1}, {2}>(a{0}, &total{0});\n", i, op,
                        shape_.lanes);
  }
  text += fmt::format("    const auto start{0} = {1}::combine(carry{0}, before{0});\n", i, op);
  text += fmt::format("#pragma unroll\n    for (int e = 0; e < {2}; ++e) s{0}[e] = {1}::combine(start{0}, s{0}[e]);\n",
                      i, op, shape_.width);
  return text + fmt::format("    carry{0} = {1}::combine(carry{0}, total{0});\n", i, op);
}

//! Computes what is written of each column, and stores it.
std::string ScanCode::outputs(const std::string& condition) {
  ElementCode code(
      space_.fused, [this](int term) { return given(term); }, "      ");
  std::vector<int> targets;
  std::string before, stores, after;
  for (std::size_t i = 0; i < space_.fused.outputs.size(); ++i) {
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
  return fmt::format("    if ({}) {{\n{}{}{}{}    }}\n", condition, loads(targets), before,
                     neighbours(code.text() + stores), after);
}

//! What the threads of a row find in their parts; each then starts from what those before it have found.
std::string ScanCode::totals_of_part() {
  ElementCode code(
      space_.fused, [this](int term) { return given(term); }, "      ");
  std::vector<int> targets;
  std::string body, exchange;
  const std::int64_t rows = shape_.rows_a_block();
  for (std::size_t i = 0; i < space_.scans.size(); ++i) {
    targets.push_back(element(i));
    const std::string value = code[element(i)];
    body += fmt::format("      carry{} = {};\n", i, accumulated(operation(i), fmt::format("carry{}", i), value));
    exchange += fmt::format("  __shared__ {}::Value totals{}[{}][{}];\n", operation(i), i, shape_.lanes, rows);
    exchange += fmt::format("  totals{0}[lane][threadIdx.x % {1}u] = carry{0};\n", i, rows);
  }
  exchange += "  __syncthreads();\n";
  for (std::size_t i = 0; i < space_.scans.size(); ++i) {
    exchange += fmt::format("  carry{} = {}::identity();\n", i, operation(i));
    exchange += fmt::format(
        "  for (unsigned way = 0; way < lane; ++way) carry{0} = {1}::combine(carry{0}, totals{0}[way][threadIdx.x % "
        "{2}u]);\n",
        i, operation(i), rows);
  }
  const std::string head =
      fmt::format("#pragma unroll 8\n  for ({} k = begin; k < end; ++k) {{\n", access_.index_type());
  return column(head, loads(targets) + neighbours(code.text() + body)) + exchange;
}

//! Each thread goes through its part alone.
std::string ScanCode::parts() {
  std::string text, body;
  if (shape_.lanes > 1) text += totals_of_part();
  for (std::size_t i = 0; i < space_.scans.size(); ++i) {
    ElementCode code(
        space_.fused, [this](int term) { return given(term); }, "      ");
    const std::string value = code[element(i)];
    const std::string step = accumulated(operation(i), fmt::format("carry{}", i), value);
    body += fmt::format("    {{\n{}{}    }}\n", loads({element(i)}),
                        neighbours(code.text() + fmt::format("      carry{} = {};\n", i, step)));
  }
  body += outputs("inside");
  const std::string head =
      fmt::format("#pragma unroll 8\n  for ({} k = begin; k < end; ++k) {{\n", access_.index_type());
  return text + column(head, body);
}

}  // namespace cudal1
