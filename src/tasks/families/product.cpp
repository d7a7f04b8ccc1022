// A matrix product and what is done with its result: linear layers, plain products, batches of them.
#include "tasks/epilogues.hpp"
#include "tasks/families.hpp"
#include "tasks/layers.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

//! (rows, in) to (rows, out), or with a sequence before.
ModuleValue linear_product(Module& module, Choices& choices) {
  const std::int64_t rows = choices.size(7, 11), in = choices.size(7, 11), out = choices.size(7, 11);
  module.name_extent("batch_size", rows);
  module.name_size("in_features", in);
  module.name_size("out_features", out);
  const ModuleValue x = module.input("x", {rows, in});
  return linear(module, x, out, !choices.chance(0.3));
}

//! Two inputs, one of them perhaps given as its transpose.
ModuleValue matrix_product(Module& module, Choices& choices) {
  const std::int64_t m = choices.size(8, 11), k = choices.size(7, 11), n = choices.size(8, 11);
  module.name_extent("rows", m);
  module.name_extent("inner", k);
  module.name_size("columns", n);
  const bool is_transposed = choices.chance(0.3);
  const ModuleValue a = module.input("a", {m, k});
  ModuleValue b = module.input("b", is_transposed ? Shape{n, k} : Shape{k, n});
  if (is_transposed) b = transpose(module, b, 0, 1);
  return matmul(module, a, b);
}

ModuleValue batched_product(Module& module, Choices& choices) {
  const std::int64_t batch = choices.size(3, 6), m = choices.size(6, 9), k = choices.size(5, 8), n = choices.size(6, 9);
  module.name_extent("batch_size", batch);
  module.name_extent("rows", m);
  module.name_extent("inner", k);
  module.name_size("columns", n);
  const ModuleValue a = module.input("a", {batch, m, k});
  const ModuleValue b = module.input("b", {batch, k, n});
  return matmul(module, a, b);
}

ModuleValue any_row_reduction(Module& module, Choices& choices, const ModuleValue& x) {
  const auto kind = choices.any(std::vector<std::string_view>{"sum", "amax", "logsumexp"});
  return reduce(module, kind, x, -1, choices.chance(0.5));
}

//! Something along the rows of the product: it needs all of a row.
ModuleValue row_ending(Module& module, Choices& choices, const ModuleValue& x) {
  switch (choices.below(4)) {
    case 0:
      return along(module, "softmax", x, -1);
    case 1:
      return layer_norm(module, x);
    case 2:
      return any_row_reduction(module, choices, x);
    default:
      return rms_norm(module, x);
  }
}

}  // namespace

Module describe_product(Choices& choices) {
  Module module;
  const std::int64_t kind = choices.below(10);
  ModuleValue x = kind < 6   ? linear_product(module, choices)
                  : kind < 8 ? matrix_product(module, choices)
                             : batched_product(module, choices);
  x = pointwise_epilogue(module, choices, x, choices.count(1, 4), static_cast<std::int64_t>(x.sizes.size()) - 1);
  if (choices.hard_chance(0.6)) x = row_ending(module, choices, x);
  module.output(x);
  return module;
}

}  // namespace cudal1
