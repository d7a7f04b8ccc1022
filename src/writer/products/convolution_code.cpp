#include "writer/products/convolution_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "writer/products/result_code.hpp"

namespace cudal1 {
namespace {

//! "Spot<2>{place, {index, index}}": what these loops contribute. Sums may pass through what no int holds, but end in
//! one, so they are unsigned on the way.
std::string spot(const ConvolutionOperand& operand, const std::vector<Loop>& loops, const char* letter,
                 bool with_offset) {
  const auto part = [&](Affine of) {
    if (!with_offset) of.offset = 0;
    return fmt::format("static_cast<int>({})", place_text(of, loops, loop_names(letter, loops.size()), ""));
  };
  std::vector<std::string> indices;
  for (const ConvolutionOperand::Bound& bound : operand.bounds) indices.push_back(part(bound.index));
  if (indices.empty()) indices.emplace_back("0");
  return fmt::format("cudal1::Spot<{}>{{{}, {{{}}}}}", operand.bounds.size(), part(operand.place),
                     fmt::join(indices, ", "));
}

//! `[&](unsigned line) { … return Spot; }`
std::string spot_of(const ConvolutionOperand& operand, const std::vector<Loop>& loops, const char* letter,
                    bool with_offset) {
  return fmt::format("[](unsigned number) {{\n{}    return {};\n  }}",
                     index_statements(loops, loop_names(letter, loops.size()), "number", false, "    "),
                     spot(operand, loops, letter, with_offset));
}

}  // namespace

ConvolutionCode::ConvolutionCode(const OpGraph& graph, const ConvolutionSpace& space, const ProductShape& shape,
                                 std::string name)
    : graph_(graph),
      space_(space),
      shape_(shape),
      name_(std::move(name)),
      results_(graph, space.results.fused, space.results.loops(), result_names(space.results)) {
  const FusedTerms::Output& first = space.results.fused.outputs.front();
  const std::int64_t widest = results_.widest(first.value, first.place);
  results_.set_width(space.scattered.empty() ? std::min<std::int64_t>(4, widest) : 1);
  results_.set_wide(results_.reaches_far());
}

WrittenGroup ConvolutionCode::write() const {
  WrittenGroup group;
  group.headers = results_.headers();
  group.headers.insert("cudal1/gemm_gather.cuh");
  group.headers.merge(math_headers(shape_, space_.dtype));
  const std::int64_t tiles = shape_.tiles_down(space_.sizes) * shape_.tiles_across(space_.sizes);
  WrittenLaunch launch{name_, {tiles * space_.sizes.batches, 1, 1}, {shape_.tile.threads(), 1, 1}, 0, {}};
  launch.shared_bytes = shared_bytes(shape_, space_.operands());
  for (const ValueId value : tensors()) launch.arguments.push_back(directive_name(graph_.values[value]));
  group.launches.push_back(std::move(launch));
  group.code = kernel();
  return group;
}

std::vector<ValueId> ConvolutionCode::tensors() const {
  std::vector<ValueId> all = {space_.weight.value};
  const auto add = [&](ValueId value) {
    if (std::ranges::find(all, value) == all.end()) all.push_back(value);
  };
  add(space_.input.value);
  std::ranges::for_each(results_.tensors(), add);
  return all;
}

std::string ConvolutionCode::head() const {
  std::vector<std::string> parameters;
  for (const ValueId value : tensors())
    parameters.push_back(kernel_parameter(graph_, results_, space_.results.fused, value, true));
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n", launch_bounds(shape_), name_,
                     fmt::join(parameters, ", "));
}

std::string ConvolutionCode::kernel() const {
  std::string text = head();
  text += tile_of_block(shape_, space_.sizes);
  text += depth_of_phase();
  text += operand(space_.weight, "left", space_.sizes.rows, "first_row + threadIdx.x % Tile::rows");
  text += operand(space_.input, "right", space_.sizes.columns, "first_column + threadIdx.x % Tile::columns");
  text += fmt::format(
      "  const float* sums = cudal1::tiled_product<Tile, cudal1::{}>(cudal1_shared, left, right, first_row, "
      "first_column, 0, {});\n",
      math_name(shape_), space_.phased.empty() ? std::to_string(space_.sizes.depth) : "depth");
  return text + (space_.scattered.empty() ? results() : scattered_results()) + "}\n";
}

std::string ConvolutionCode::base(const ConvolutionOperand& operand) const {
  std::string text = results_.variable(operand.value);
  const std::string image = space_.groups == 1 ? "batch" : fmt::format("(batch / {}u)", space_.groups);
  if (operand.batch_stride != 0 && space_.sizes.batches > space_.groups)
    text += fmt::format(" + {}ll * {}", operand.batch_stride, image);
  if (space_.groups > 1) text += fmt::format(" + {}ll * (batch % {}u)", operand.group_stride, space_.groups);
  return text;
}

std::string ConvolutionCode::operand(const ConvolutionOperand& operand, const std::string& name, std::int64_t lines,
                                     const std::string& line) const {
  if (operand.vector == 0) return gathered(operand, name, lines, line);
  const bool is_turned = shape_.math == ProductMath::fp32 && operand.along_depth;
  return fmt::format("  const cudal1::StridedOperand<{}, {}, {}, {}, {}, {}> {}{{{}}};\n",
                     cuda_element_name(space_.dtype), lines, space_.sizes.depth, operand.along_depth, operand.stride,
                     is_turned ? 1 : operand.vector, name, base(operand));
}

std::string ConvolutionCode::gathered(const ConvolutionOperand& operand, const std::string& name, std::int64_t lines,
                                      const std::string& line) const {
  std::vector<std::int64_t> sizes;
  for (const ConvolutionOperand::Bound& bound : operand.bounds) sizes.push_back(bound.size);
  return fmt::format(
      "  const unsigned {0}_line = {1};\n  const auto {0} = cudal1::gathered_operand<{2}>({3}, {4}({0}_line), "
      "{0}_line < {5}u, {6});\n",
      name, line, fmt::join(sizes, ", "), base(operand), spot_of(operand, operand.lines, "l", true), lines,
      tap(operand));
}

//! `n0`, …: how many t the block's phase has in each dimension that has some; `depth`: all of them, of every channel.
std::string ConvolutionCode::depth_of_phase() const {
  if (space_.phased.empty()) return "";
  std::string text = fmt::format("  const unsigned phase = first_row / {}u;\n", space_.channels_out);
  std::string depth = fmt::format("{}u", space_.channels_in);
  for (std::size_t i = 0; i < space_.phased.size(); ++i) {
    const PhasedDepth& one = space_.phased[i];
    std::int64_t inside = 1;
    for (std::size_t dim = one.dim + 1; dim < space_.scattered.size(); ++dim) inside *= space_.scattered[dim].step;
    text += fmt::format("  const unsigned n{} = phase / {}u % {}u < {}u ? {}u : {}u;\n", i, inside,
                        space_.scattered[one.dim].step, one.full, one.most, one.most - 1);
    depth += fmt::format(" * n{}", i);
  }
  return text + fmt::format("  const int depth = {};\n", depth);
}

//! The part of an operand's place that the depth has. A phase's counts are one of two each, so that divisions are by
//! what the compiler knows.
std::string ConvolutionCode::tap(const ConvolutionOperand& operand) const {
  if (space_.phased.empty()) return spot_of(operand, operand.depth, "k", false);
  std::string text = "[=](unsigned number) {\n";
  std::size_t loop = operand.depth.size();
  for (std::size_t i = space_.phased.size(); i-- > 0;) {
    const std::int64_t most = space_.phased[i].most;
    text += fmt::format("    const unsigned k{0} = n{1} == {2}u ? number % {2}u : number % {3}u;\n", --loop, i, most,
                        most - 1);
    text += fmt::format("    number = n{0} == {1}u ? number / {1}u : number / {2}u;\n", i, most, most - 1);
  }
  if (loop > 0) text += "    const unsigned k0 = number;\n";
  return text + fmt::format("    return {};\n  }}", spot(operand, operand.depth, "k", false));
}

std::string ConvolutionCode::results() const {
  return loop_over_sums(shape_, space_.sizes, results_.width(),
                        result_indices(space_.results, results_, "    ") +
                            element_results(graph_, results_, space_.results.fused, "    "));
}

//! Rows that are neighbours in the last dimension of the output: threads take turns at them, so that they write side by
//! side.
std::int64_t ConvolutionCode::interleaved() const {
  const std::int64_t step = space_.scattered.back().step;
  return space_.phased.empty() && shape_.tile.rows % step == 0 ? step : 1;
}

//! A thread keeps to its columns, whose places it computes once, and goes down the rows.
std::string ConvolutionCode::scattered_results() const {
  const std::int64_t turns = interleaved(), wide = turns * shape_.tile.columns, threads = shape_.tile.threads();
  std::string text =
      fmt::format("  for (unsigned slot = threadIdx.x % {0}u; slot < {0}u; slot += Tile::threads) {{\n", wide);
  text += fmt::format("    const unsigned column = first_column + slot / {}u;\n", turns);
  text += fmt::format("    if (column >= {}u) continue;\n", space_.sizes.columns);
  text += scattered_column();
  text +=
      fmt::format("    for (unsigned down = threadIdx.x / {0}u * {1}u + slot % {1}u; down < {2}u; down += {3}u) {{\n",
                  wide, turns, shape_.tile.rows, turns * std::max<std::int64_t>(1, threads / wide));
  text += fmt::format("      const unsigned number = first_row + down;\n      if (number >= {}u) break;\n",
                      space_.sizes.rows);
  text += scattered_element();
  text += fmt::format("      const auto sum = cudal1::load<1>(sums + down * Tile::sums_stride + slot / {}u);\n", turns);
  return text + result_indices(space_.results, results_, "      ") +
         element_results(graph_, results_, space_.results.fused, "      ") + "    }\n  }\n";
}

//! `q0`, …: what the column contributes to the indices of the output. They may be negative, which is large.
std::string ConvolutionCode::scattered_column() const {
  std::string text;
  std::int64_t inside = 1;
  for (std::size_t i = space_.scattered.size(); i-- > 0;) {
    const ScatteredDimension& dim = space_.scattered[i];
    text += fmt::format("    const unsigned q{} = {}u * (column / {}u % {}u) + {}u;\n", i, dim.step, inside, dim.count,
                        static_cast<std::uint32_t>(dim.offset));
    inside *= dim.count;
  }
  return text;
}

//! `row`: the channel; `group`: the place in the output, if there is one.
std::string ConvolutionCode::scattered_element() const {
  std::string text, group;
  std::vector<std::string> outside;
  const bool by_phase = !space_.phased.empty();
  std::int64_t inside = by_phase ? space_.channels_out : 1;
  for (std::size_t i = space_.scattered.size(); i-- > 0;) {
    const ScatteredDimension& dim = space_.scattered[i];
    text += fmt::format("      const unsigned o{} = q{} + number / {}u % {}u;\n", i, i, inside, dim.step);
    outside.push_back(fmt::format("o{} >= {}u", i, dim.size));
    inside *= dim.step;
  }
  for (std::size_t i = 0; i < space_.scattered.size(); ++i)
    group = i == 0 ? "o0" : fmt::format("({}) * {}u + o{}", group, space_.scattered[i].size, i);
  return text + fmt::format("      if ({}) continue;\n      const unsigned row = number {} {}u, group = {};\n",
                            fmt::join(outside, " || "), by_phase ? '%' : '/', by_phase ? space_.channels_out : inside,
                            group);
}

}  // namespace cudal1
