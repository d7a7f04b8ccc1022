#include "model/transformer/parameter_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/result.hpp"

namespace cudal1 {
namespace {

void check_config(const ModelConfig& config) {
  for (const std::int64_t size : {config.layers, config.hidden, config.heads, config.kv_heads, config.head_size,
                                  config.feed_forward, config.vocabulary, config.context})
    if (size <= 0) throw Error("the model's configuration has a size that is not positive; use another model file");
  if (config.heads % config.kv_heads != 0)
    throw Error(fmt::format("{} heads cannot share {} key/value heads evenly; use another model file", config.heads,
                            config.kv_heads));
  if (config.head_size % 2 != 0)
    throw Error(fmt::format("heads of odd size {} have no rotary positions; use another model file", config.head_size));
}

}  // namespace

std::string layer_name(std::int64_t layer, std::string_view part) {
  return fmt::format("model.layers.{}.{}", layer, part);
}

std::vector<ParameterShape> parameter_shapes(const ModelConfig& config) {
  const std::int64_t queries = config.heads * config.head_size, keys = config.kv_heads * config.head_size;
  std::vector<ParameterShape> all = {{"model.embed_tokens.weight", {config.vocabulary, config.hidden}}};
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const auto add = [&](std::string_view part, std::vector<std::int64_t> shape) {
      all.push_back({layer_name(layer, part), std::move(shape)});
    };
    add("input_layernorm.weight", {config.hidden});
    add("self_attn.q_proj.weight", {queries, config.hidden});
    add("self_attn.k_proj.weight", {keys, config.hidden});
    add("self_attn.v_proj.weight", {keys, config.hidden});
    if (config.attention_bias) {
      add("self_attn.q_proj.bias", {queries});
      add("self_attn.k_proj.bias", {keys});
      add("self_attn.v_proj.bias", {keys});
    }
    if (config.query_key_norm) {
      add("self_attn.q_norm.weight", {config.head_size});
      add("self_attn.k_norm.weight", {config.head_size});
    }
    add("self_attn.o_proj.weight", {config.hidden, queries});
    add("post_attention_layernorm.weight", {config.hidden});
    add("mlp.gate_proj.weight", {config.feed_forward, config.hidden});
    add("mlp.up_proj.weight", {config.feed_forward, config.hidden});
    add("mlp.down_proj.weight", {config.hidden, config.feed_forward});
  }
  all.push_back({"model.norm.weight", {config.hidden}});
  if (!config.tied_embeddings) all.push_back({"lm_head.weight", {config.vocabulary, config.hidden}});
  return all;
}

void check_weights(const ModelWeights& weights) {
  check_config(weights.config());
  for (const ParameterShape& parameter : parameter_shapes(weights.config())) {
    const WeightTensor* tensor = weights.find(parameter.name);
    if (!tensor)
      throw Error(fmt::format("the model has no tensor {}; the file is incomplete, fetch it again", parameter.name));
    if (tensor->shape != parameter.shape)
      throw Error(fmt::format("tensor {} has shape ({}), the configuration wants ({}); use another model file",
                              parameter.name, fmt::join(tensor->shape, ", "), fmt::join(parameter.shape, ", ")));
  }
}

}  // namespace cudal1
