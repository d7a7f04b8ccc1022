// Norms and reductions of rows, between pointwise lines; some written out in means and roots, as people do.
#include "tasks/epilogues.hpp"
#include "tasks/families.hpp"
#include "tasks/layers.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

ModuleValue rows_input(Module& module, Choices& choices) {
  const std::int64_t features = choices.size(8, 12);
  if (choices.chance(0.6)) {
    const std::int64_t rows = choices.size(10, 13);
    module.name_extent("batch_size", rows);
    module.name_size("features", features);
    return module.input("x", {rows, features});
  }
  const std::int64_t batch = choices.size(3, 5), length = choices.size(7, 10);
  module.name_extent("batch_size", batch);
  module.name_extent("sequence_length", length);
  module.name_size("features", features);
  return module.input("x", {batch, length, features});
}

//! (x - mean) / sqrt(variance + eps), or without the mean.
ModuleValue written_norm(Module& module, Choices& choices, ModuleValue x) {
  if (choices.chance(0.5)) {
    const ModuleValue mean = reduce(module, "mean", x, -1, true);
    x = binary(module, "sub", x, mean);
  }
  const ModuleValue square = unary(module, "square", x);
  const ModuleValue variance = with_number(module, "add", reduce(module, "mean", square, -1, true), 1e-5);
  ModuleValue made = divide(module, x, unary(module, "sqrt", variance));
  made.range = NumberRange::both_signs;
  return made;
}

//! exp(x - max) over its sum.
ModuleValue written_softmax(Module& module, const ModuleValue& x) {
  const ModuleValue largest = reduce(module, "amax", x, -1, true);
  const ModuleValue power = unary(module, "exp", binary(module, "sub", x, largest));
  return divide(module, power, reduce(module, "sum", power, -1, true));
}

ModuleValue any_norm(Module& module, Choices& choices, const ModuleValue& x) {
  switch (choices.below(choices.difficulty() < 0.25 ? 4 : 7)) {
    case 0:
      return layer_norm(module, x);
    case 1:
      return rms_norm(module, x);
    case 2:
      return along(module, "softmax", x, -1);
    case 3:
      return along(module, "log_softmax", x, -1);
    case 4:
      return normalize(module, x);
    case 5:
      return written_softmax(module, x);
    default:
      return written_norm(module, choices, x);
  }
}

ModuleValue any_reduction(Module& module, Choices& choices, const ModuleValue& x) {
  const auto kind =
      choices.any(std::vector<std::string_view>{"sum", "mean", "amax", "amin", "logsumexp", "var", "norm"});
  // Down the columns, now and then: another walk through memory.
  const std::int64_t dim = choices.hard_chance(0.4) ? static_cast<std::int64_t>(x.sizes.size()) - 2 : -1;
  return reduce(module, kind, x, dim, choices.chance(0.5));
}

}  // namespace

Module describe_rows(Choices& choices) {
  Module module;
  ModuleValue x = rows_input(module, choices);
  const auto last = static_cast<std::int64_t>(x.sizes.size()) - 1;
  x = pointwise_epilogue(module, choices, x, choices.count(0, 2), last);
  if (choices.chance(0.3)) {
    x = any_reduction(module, choices, x);
    if (choices.chance(0.5)) x = any_activation(module, choices, x);
  } else {
    x = any_norm(module, choices, x);
    x = pointwise_epilogue(module, choices, x, choices.count(1, 3), last);
  }
  module.output(x);
  return module;
}

}  // namespace cudal1
