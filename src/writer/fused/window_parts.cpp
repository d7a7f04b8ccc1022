#include "writer/fused/window_parts.hpp"

#include <fmt/format.h>

#include "graph/operator_name.hpp"

namespace cudal1 {

std::size_t dimensions_in_name(std::string_view name) {
  for (std::size_t i = 0; i + 1 < name.size(); ++i)
    if (name[i] >= '1' && name[i] <= '3' && name[i + 1] == 'd') return static_cast<std::size_t>(name[i] - '0');
  return 0;
}

Numbers numbers(const Node& node, std::size_t position, std::string_view name, std::size_t count,
                const Numbers& fallback) {
  Numbers given;
  if (const auto* one = argument_as<std::int64_t>(node, position, name)) given = {*one};
  if (const auto* list = argument_as<Numbers>(node, position, name)) given = *list;
  if (given.empty()) return fallback;
  if (given.size() == 1) given.assign(count, given.front());
  return given;
}

ValueId tensor(const RuleCall& call, std::size_t position, std::string_view name) {
  const auto* ref = argument_as<ValueRef>(call.node, position, name);
  if (ref == nullptr || ref->id < 0) call.lowering.refuse(call.node, fmt::format("has no tensor {}", quoted(name)));
  return ref->id;
}

std::size_t checked_dimensions(const RuleCall& call, const TensorMeta& meta, const Numbers& a_number_each) {
  const std::size_t count = a_number_each.size();
  if (count == 0 || count > meta.sizes.size() || call.point.size() != meta.sizes.size())
    call.lowering.refuse(call.node, "has windows of an unusual shape");
  return count;
}

WindowDim window(const RuleCall& call, const Affine& output, std::int64_t output_size, std::int64_t size,
                 const WindowSizes& sizes, std::size_t dim) {
  WindowDim made;
  made.size = size;
  std::vector<int> loops;
  const Affine inside = call.lowering.loop(sizes.kernel[dim], loops);
  if (!loops.empty()) made.loop = loops.front();
  made.index.add(output, sizes.stride[dim]);
  made.index.add(inside, sizes.dilation[dim]);
  made.index.offset -= sizes.padding[dim];
  const std::int64_t last =
      sizes.stride[dim] * (output_size - 1) + sizes.dilation[dim] * (sizes.kernel[dim] - 1) - sizes.padding[dim];
  made.may_leave = sizes.padding[dim] > 0 || last >= size;
  return made;
}

Windowed windowed(const RuleCall& call, ValueId value, const WindowSizes& sizes) {
  const TensorMeta& meta = meta_of(call, value);
  const std::size_t count = checked_dimensions(call, meta, sizes.kernel), before = meta.sizes.size() - count;
  for (const Numbers* list : {&sizes.stride, &sizes.padding, &sizes.dilation})
    if (list->size() != count) call.lowering.refuse(call.node, "has windows of an unusual shape");
  Windowed made{value, Point(call.point.begin(), call.point.begin() + std::ptrdiff_t(before)), {}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t dim = before + i;
    made.windows.push_back(window(call, call.point[dim], call.value.meta.sizes[dim], meta.sizes[dim], sizes, i));
    made.point.push_back(made.windows.back().index);
  }
  return made;
}

}  // namespace cudal1
