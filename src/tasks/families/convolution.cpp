// A convolution, then perhaps a norm, an activation, a pooling, as networks for images and signals have them.
#include "tasks/epilogues.hpp"
#include "tasks/families.hpp"
#include "tasks/layers.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

ModuleValue image(Module& module, Choices& choices, std::int64_t channels) {
  const std::int64_t batch = choices.size(2, 5), height = choices.size(4, 6);
  const std::int64_t width = choices.hard_chance(0.3) ? choices.size(4, 6) : height;
  module.name_extent("batch_size", batch);
  module.name_size("in_channels", channels);
  module.name_extent("height", height);
  module.name_extent("width", width);
  return module.input("x", {batch, channels, height, width});
}

ModuleValue plain(Module& module, Choices& choices) {
  const std::int64_t in = choices.chance(0.25) ? 3 : choices.size_of_multiple(4, 7, 8);
  const std::int64_t out = choices.size_of_multiple(4, 7, 8);
  const std::int64_t kernel = choices.any(std::vector<std::int64_t>{1, 3, 3, 3, 5});
  const ModuleValue x = image(module, choices, in);
  module.name_size("out_channels", out);
  const std::int64_t stride = choices.chance(0.2) ? 2 : 1, padding = choices.chance(0.7) ? kernel / 2 : 0;
  return convolution(module, x, out, {kernel, stride, padding, 1}, choices.chance(0.7));
}

ModuleValue depthwise(Module& module, Choices& choices) {
  const std::int64_t channels = choices.size_of_multiple(5, 8, 8);
  const std::int64_t kernel = choices.any(std::vector<std::int64_t>{3, 3, 5});
  const ModuleValue x = image(module, choices, channels);
  const ModuleValue y = convolution(module, x, channels, {kernel, 1, kernel / 2, channels}, choices.chance(0.5));
  if (!choices.hard_chance(0.5)) return y;
  const std::int64_t out = choices.size_of_multiple(5, 7, 8);
  module.name_size("out_channels", out);
  return convolution(module, y, out, {1, 1, 0, 1}, choices.chance(0.5));
}

ModuleValue transposed(Module& module, Choices& choices) {
  const std::int64_t in = choices.size_of_multiple(4, 6, 8), out = choices.size_of_multiple(4, 6, 8);
  const ModuleValue x = image(module, choices, in);
  module.name_size("out_channels", out);
  const bool is_wide = choices.chance(0.5);
  return transposed_convolution(module, x, out, is_wide ? Window{4, 2, 1, 1} : Window{2, 2, 0, 1});
}

ModuleValue along_lines(Module& module, Choices& choices) {
  const std::int64_t batch = choices.size(3, 5), in = choices.size_of_multiple(4, 7, 8);
  const std::int64_t out = choices.size_of_multiple(5, 8, 8), length = choices.size(9, 12);
  const std::int64_t kernel = choices.any(std::vector<std::int64_t>{3, 5, 7});
  module.name_extent("batch_size", batch);
  module.name_size("in_channels", in);
  module.name_size("out_channels", out);
  module.name_extent("length", length);
  const ModuleValue x = module.input("x", {batch, in, length});
  return convolution(module, x, out, {kernel, 1, kernel / 2, 1}, choices.chance(0.7));
}

ModuleValue any_norm(Module& module, Choices& choices, const ModuleValue& x) {
  const std::int64_t kind = choices.below(x.sizes.size() == 4 ? 4 : 1);
  if (kind == 1 || kind == 2) return batch_norm(module, x);
  if (kind == 3) return instance_norm(module, x);
  return group_norm(module, x, choices.any(std::vector<std::int64_t>{2, 4, 8}));
}

}  // namespace

Module describe_convolution(Choices& choices) {
  Module module;
  const std::int64_t kind = choices.below(10);
  ModuleValue x = kind < 5   ? plain(module, choices)
                  : kind < 7 ? depthwise(module, choices)
                  : kind < 8 ? transposed(module, choices)
                             : along_lines(module, choices);
  if (choices.hard_chance(0.6)) x = any_norm(module, choices, x);
  x = pointwise_epilogue(module, choices, x, choices.count(1, 3), 1);
  if (x.sizes.size() == 4 && choices.hard_chance(0.5))
    x = pooling(module, choices.any(std::vector<std::string_view>{"max", "avg"}), x, 2);
  else if (choices.hard_chance(0.25))
    x = spatial_mean(module, x);
  module.output(x);
  return module;
}

}  // namespace cudal1
