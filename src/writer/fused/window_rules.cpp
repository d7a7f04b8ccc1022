#include "writer/fused/window_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/operator_name.hpp"
#include "writer/fused/window_parts.hpp"

namespace cudal1 {
namespace {

constexpr auto real = ScalarKind::real;
constexpr auto integer = ScalarKind::integer;

//! Only maxima have a dilation.
WindowSizes pooling_sizes(const Node& node) {
  const std::string_view name = base_name(node.op);
  const std::size_t count = dimensions_in_name(name);
  WindowSizes sizes;
  sizes.kernel = numbers(node, 1, "kernel_size", count, {});
  sizes.stride = numbers(node, 2, "stride", count, sizes.kernel);
  sizes.padding = numbers(node, 3, "padding", count, all(0, count));
  sizes.dilation = all(1, count);
  if (name.starts_with("max_")) sizes.dilation = numbers(node, 4, "dilation", count, sizes.dilation);
  return sizes;
}

int element(const RuleCall& call, const Windowed& from, ScalarKind kind) {
  return call.lowering.as(kind, call.lowering.value_at(from.value, from.point));
}

//! Whole dimensions need no windows: loops run through all of them.
int reduced(const RuleCall& call, const Windowed& from, ScalarKind kind, std::string_view operation,
            std::vector<int> elements) {
  std::string typed = fmt::format("cudal1::{}<{}>", operation, cuda_name(kind));
  if (!pools_everything(call.lowering.graph(), call.node))
    return call.lowering.reduce_windows(kind, std::move(typed), std::move(elements), from.windows,
                                        call.value.meta.numel());
  std::vector<int> loops;
  for (const WindowDim& dim : from.windows)
    if (dim.loop >= 0) loops.push_back(dim.loop);
  return call.lowering.reduce(kind, std::move(typed), std::move(elements), std::move(loops));
}

// --- averages --------------------------------------------------------------------------------------------------------

int sum(const RuleCall& call, const Windowed& from) {
  if (call.result_kind() != real) call.lowering.refuse(call.node, "averages integers");
  return reduced(call, from, real, "Sum", {element(call, from, real)});
}

//! How many places of a window count along a dimension: a number, or, where that depends on the window, a term.
struct Length {
  std::int64_t number = 1;
  std::optional<int> term;
};

//! Places beyond the padding never count, those in the padding only where `with_padding` says so.
Length counted_length(const RuleCall& call, const WindowSizes& sizes, std::size_t dim, std::size_t tensor_dim,
                      std::int64_t size, bool with_padding) {
  const std::int64_t kernel = sizes.kernel[dim], padding = sizes.padding[dim];
  const std::int64_t low = with_padding ? -padding : 0, high = with_padding ? size + padding : size;
  const std::int64_t last_start = sizes.stride[dim] * (call.value.meta.sizes[tensor_dim] - 1) - padding;
  if (-padding >= low && last_start + kernel <= high) return {kernel, std::nullopt};
  Affine start;
  start.add(call.point[tensor_dim], sizes.stride[dim]);
  start.offset -= padding;
  const std::string code = fmt::format(
      "static_cast<float>(static_cast<int>(cudal1::minimum({{0}} + {}, {}ll) - cudal1::maximum({{0}}, {}ll)))", kernel,
      high, low);
  return {1, call.lowering.map(real, code, {call.lowering.position(start)})};
}

int divided(const RuleCall& call, int term, const std::vector<Length>& lengths) {
  std::int64_t number = 1;
  for (const Length& length : lengths) number *= length.number;
  int divisor = call.lowering.constant(real, static_cast<double>(number));
  for (const Length& length : lengths)
    if (length.term) divisor = call.lowering.map(real, "{0} * {1}", {divisor, *length.term});
  return call.lowering.map(real, "{0} / {1}", {term, divisor});
}

int average_pool(const RuleCall& call) {
  const WindowSizes sizes = pooling_sizes(call.node);
  const Windowed from = windowed(call, tensor(call, 0, "self"), sizes);
  const double divisor = call.number(6, "divisor_override", 0.0);
  if (divisor != 0.0) return divided(call, sum(call, from), {{static_cast<std::int64_t>(divisor), std::nullopt}});
  const bool with_padding = call.number(5, "count_include_pad", 1.0) != 0.0;
  std::vector<Length> lengths;
  const std::size_t before = from.point.size() - from.windows.size();
  for (std::size_t i = 0; i < from.windows.size(); ++i)
    lengths.push_back(counted_length(call, sizes, i, before + i, from.windows[i].size, with_padding));
  return divided(call, sum(call, from), lengths);
}

// --- maxima ----------------------------------------------------------------------------------------------------------

bool is_read(const OpGraph& graph, ValueId value) {
  const auto reads = [&](const Node& node) { return std::ranges::count(OpGraph::reads(node), value) > 0; };
  return std::ranges::count(graph.outputs, value) > 0 || std::ranges::any_of(graph.nodes, reads);
}

//! Of the element in the last dimensions of the argument, row by row.
int place_in_plane(const RuleCall& call, const Windowed& from) {
  Affine place;
  std::int64_t inside = 1;
  const std::size_t before = from.point.size() - from.windows.size();
  for (std::size_t i = from.windows.size(); i-- > 0;) {
    place.add(from.point[before + i], inside);
    inside *= from.windows[i].size;
  }
  if (inside >= std::int64_t{1} << 31) call.lowering.refuse(call.node, "looks for a place among 2^31 elements");
  return call.lowering.position(place);
}

//! The value, or, as second result, its place; both are looked for only where somebody wants the place.
int largest(const RuleCall& call, const Windowed& from) {
  Lowering& lowering = call.lowering;
  const ScalarKind kind = scalar_kind(meta_of(call, from.value).dtype);
  if (call.node.outputs.size() < 2 || !is_read(lowering.graph(), call.node.outputs[1]))
    return reduced(call, from, kind, "Max", {element(call, from, kind)});
  const int both = lowering.once(call.node, call.point, [&] {
    return reduced(call, from, kind, pools_everything(call.lowering.graph(), call.node) ? "ArgMax" : "PoolMax",
                   {element(call, from, kind), place_in_plane(call, from)});
  });
  if (call.value.output == 1) return lowering.map(integer, "{0}.index", {both});
  return lowering.map(kind, "{0}.value", {both});
}

int max_pool(const RuleCall& call) {
  return largest(call, windowed(call, tensor(call, 0, "self"), pooling_sizes(call.node)));
}

// --- adaptive --------------------------------------------------------------------------------------------------------

Numbers adaptive_sizes(const Node& node) {
  return numbers(node, 1, "output_size", dimensions_in_name(base_name(node.op)), {});
}

//! Windows of one length where they divide the dimension.
WindowDim adaptive_window(const RuleCall& call, const Affine& output, std::int64_t parts, std::int64_t size) {
  if (size % parts == 0) {
    const Numbers length = {size / parts};
    return window(call, output, parts, size, {length, length, {0}, {1}}, 0);
  }
  WindowDim made;
  made.size = size;
  made.parts = parts;
  made.part = output;
  std::vector<int> loops;
  made.index = call.lowering.loop(size, loops);
  made.loop = loops.empty() ? -1 : loops.front();
  return made;
}

Windowed adaptive(const RuleCall& call) {
  const ValueId value = tensor(call, 0, "self");
  const TensorMeta& meta = meta_of(call, value);
  const Numbers parts = adaptive_sizes(call.node);
  const std::size_t before = meta.sizes.size() - checked_dimensions(call, meta, parts);
  if (std::ranges::any_of(parts, [](std::int64_t part) { return part <= 0; }))
    call.lowering.refuse(call.node, "gives nothing");
  Windowed made{value, Point(call.point.begin(), call.point.begin() + std::ptrdiff_t(before)), {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    made.windows.push_back(adaptive_window(call, call.point[before + i], parts[i], meta.sizes[before + i]));
    made.point.push_back(made.windows.back().index);
  }
  return made;
}

Length adaptive_length(const RuleCall& call, const WindowDim& dim, std::int64_t parts) {
  if (dim.parts == 0) return {dim.size / parts, std::nullopt};
  const std::string code =
      fmt::format("static_cast<float>(static_cast<int>((({{0}} + 1) * {0} + {1}) / {2} - {{0}} * {0} / {2}))", dim.size,
                  parts - 1, parts);
  return {1, call.lowering.map(real, code, {call.lowering.position(dim.part)})};
}

int adaptive_average(const RuleCall& call) {
  const Windowed from = adaptive(call);
  const Numbers parts = adaptive_sizes(call.node);
  std::vector<Length> lengths;
  for (std::size_t i = 0; i < parts.size(); ++i) lengths.push_back(adaptive_length(call, from.windows[i], parts[i]));
  return divided(call, sum(call, from), lengths);
}

int adaptive_max(const RuleCall& call) { return largest(call, adaptive(call)); }

}  // namespace

bool pools_everything(const OpGraph& graph, const Node& node) {
  const std::string_view name = base_name(node.op);
  const auto* input = argument_as<ValueRef>(node, 0, "self");
  if (name.find("_pool") == name.npos || input == nullptr || input->id < 0) return false;
  if (name.find("adaptive_") != name.npos) {
    const Numbers sizes = adaptive_sizes(node);
    return !sizes.empty() && std::ranges::all_of(sizes, [](std::int64_t size) { return size == 1; });
  }
  const Numbers& sizes = graph.values[input->id].meta.sizes;
  const WindowSizes window = pooling_sizes(node);
  const std::size_t count = window.kernel.size();
  if (count >= sizes.size() || window.padding != all(0, count) || window.dilation != all(1, count)) return false;
  return std::equal(window.kernel.begin(), window.kernel.end(), sizes.end() - static_cast<std::ptrdiff_t>(count));
}

void add_pooling_rules(OperatorRules& rules) {
  for (const char* name : {"max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices",
                           "max_pool2d_with_indices", "max_pool3d_with_indices"})
    rules.emplace(name, max_pool);
  for (const char* name : {"avg_pool1d", "avg_pool2d", "avg_pool3d"}) rules.emplace(name, average_pool);
  for (const char* name : {"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d",
                           "_adaptive_avg_pool3d"})
    rules.emplace(name, adaptive_average);
  for (const char* name : {"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"})
    rules.emplace(name, adaptive_max);
}

}  // namespace cudal1
