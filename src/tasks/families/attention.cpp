// Small attention blocks: heads given or made by linear layers, the middle as one function or written out.
#include "tasks/epilogues.hpp"
#include "tasks/families.hpp"
#include "tasks/layers.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

struct Heads {
  ModuleValue query, key, value;  // (batch, heads, length, width)
};

struct BlockSizes {
  std::int64_t batch = 0, heads = 0, length = 0, width = 0;
};

BlockSizes block_sizes(Module& module, Choices& choices) {
  BlockSizes sizes;
  sizes.batch = choices.size(1, 3);
  sizes.heads = choices.any(std::vector<std::int64_t>{2, 4, 8});
  sizes.length = choices.size(6, 9);
  sizes.width = choices.any(std::vector<std::int64_t>{32, 64});
  module.name_extent("batch_size", sizes.batch);
  module.name_size("sequence_length", sizes.length);
  return sizes;
}

Heads given_heads(Module& module, const BlockSizes& sizes) {
  const Shape shape{sizes.batch, sizes.heads, sizes.length, sizes.width};
  Heads heads;
  heads.query = module.input("query", shape);
  heads.key = module.input("key", shape);
  heads.value = module.input("value", shape);
  return heads;
}

//! (batch, length, heads · width) to (batch, heads, length, width).
ModuleValue split_heads(Module& module, const BlockSizes& sizes, const ModuleValue& x) {
  return transpose(module, reshape(module, x, {sizes.batch, sizes.length, sizes.heads, sizes.width}), 1, 2);
}

Heads projected_heads(Module& module, const BlockSizes& sizes, const ModuleValue& x) {
  const std::vector<ModuleValue> parts = chunk(module, linear(module, x, 3 * sizes.heads * sizes.width, false), 3);
  Heads heads;
  heads.query = split_heads(module, sizes, parts[0]);
  heads.key = split_heads(module, sizes, parts[1]);
  heads.value = split_heads(module, sizes, parts[2]);
  return heads;
}

ModuleValue written_attention(Module& module, Choices& choices, const Heads& heads, std::int64_t width) {
  ModuleValue scores = matmul(module, heads.query, transpose(module, heads.key, -2, -1));
  scores = with_number(module, "mul", scores, width == 64 ? 0.125 : 0.1767766952966369);
  if (choices.hard_chance(0.5)) {
    const ModuleValue bias = module.parameter("bias", {scores.sizes[scores.sizes.size() - 2], scores.sizes.back()});
    scores = binary(module, "add", scores, bias);
  }
  return matmul(module, along(module, "softmax", scores, -1), heads.value);
}

}  // namespace

Module describe_attention(Choices& choices) {
  Module module;
  const BlockSizes sizes = block_sizes(module, choices);
  const std::int64_t features = sizes.heads * sizes.width;
  const bool is_projected = choices.hard_chance(0.6);
  Heads heads;
  if (is_projected) {
    module.name_size("features", features);
    ModuleValue x = module.input("x", {sizes.batch, sizes.length, features});
    if (choices.chance(0.3)) x = layer_norm(module, x);
    heads = projected_heads(module, sizes, x);
  } else {
    heads = given_heads(module, sizes);
  }
  ModuleValue y = choices.chance(0.3) ? attention(module, heads.query, heads.key, heads.value, choices.chance(0.5))
                                      : written_attention(module, choices, heads, sizes.width);
  if (is_projected || choices.hard_chance(0.5)) {
    y = reshape(module, transpose(module, y, 1, 2), {sizes.batch, sizes.length, features});
    y = choices.chance(0.6) ? linear(module, y, features) : any_activation(module, choices, y);
  }
  module.output(y);
  return module;
}

}  // namespace cudal1
