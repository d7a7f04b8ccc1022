// Pointwise lines on several tensors, joined to a graph with transposes and broadcasts in it.
#include <algorithm>

#include "tasks/families.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

//! One of sizes (rows, columns), or something that broadcasts to them.
ModuleValue operand(Module& module, Choices& choices, const std::string& name, std::int64_t rows,
                    std::int64_t columns) {
  switch (choices.below(choices.difficulty() < 0.2 ? 2 : 5)) {
    case 0:
    case 1:
      return module.input(name, {rows, columns});
    case 2:
      return module.input(name, {rows, 1});
    case 3:
      return module.parameter(name, {columns});
    default:
      return transpose(module, module.input(name, {columns, rows}), 0, 1);
  }
}

const ModuleValue& recent(Choices& choices, const std::vector<ModuleValue>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t first = choices.below(count), second = choices.below(count);
  return values[static_cast<std::size_t>(std::max(first, second))];
}

ModuleValue any_line(Module& module, Choices& choices, const std::vector<ModuleValue>& values) {
  const ModuleValue x = recent(choices, values);
  if (values.size() < 2 || choices.chance(0.45)) {
    const bool is_gentle = choices.chance(0.3);
    return unary(module, choices.any(is_gentle ? gentle_functions(x.range) : activations(x.range)), x);
  }
  if (choices.chance(0.15)) return with_number(module, "mul", x, choices.any(std::vector<double>{0.1, 0.5, 2.0}));
  const ModuleValue y = recent(choices, values);
  const auto kind = choices.any(std::vector<std::string_view>{"add", "mul", "mul", "maximum", "minimum"});
  // A value with itself makes little sense but as a square.
  return x.id == y.id ? unary(module, "square", x) : binary(module, kind, x, y);
}

}  // namespace

Module describe_pointwise(Choices& choices) {
  Module module;
  const std::int64_t rows = choices.size(10, 12), columns = choices.size(9, 12);
  module.name_extent("rows", rows);
  module.name_size("columns", columns);
  std::vector<ModuleValue> values{module.input("x", {rows, columns})};
  for (const char* name : {"y", "z"})
    if (choices.chance(0.25 + 0.5 * choices.difficulty()))
      values.push_back(operand(module, choices, name, rows, columns));
  const std::int64_t lines = choices.count(1, 6);
  for (std::int64_t i = 0; i < lines; ++i) values.push_back(any_line(module, choices, values));
  // What nobody has read yet is brought together, so that every line counts.
  ModuleValue result = values.back();
  for (const ModuleValue& value : values)
    if (value.id != result.id && !module.is_read(value)) result = binary(module, "add", result, value);
  if (choices.hard_chance(0.4)) result = contiguous(module, transpose(module, result, 0, 1));
  module.output(result);
  return module;
}

}  // namespace cudal1
