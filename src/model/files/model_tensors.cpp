#include "model/files/model_tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using Use = std::function<void(const ModelTensor&)>;

constexpr std::int64_t max_layers = 10'000, max_size = std::int64_t{1} << 31;

//! The tensors of one block under both kinds of names.
class Block {
 public:
  Block(const ModelConfig& config, std::int64_t number, const Use& use)
      : config_(config),
        prefix_(fmt::format("model.layers.{}.", number)),
        gguf_prefix_(fmt::format("blk.{}.", number)),
        use_(use) {}

  void give() const {
    const ModelConfig& c = config_;
    const std::int64_t queries = c.heads * c.head_size, keys = c.kv_heads * c.head_size;
    tensor("input_layernorm.weight", "attn_norm.weight", {c.hidden});
    projection("q_proj", "attn_q", queries, c.heads);
    projection("k_proj", "attn_k", keys, c.kv_heads);
    projection("v_proj", "attn_v", keys, 0);
    tensor("self_attn.o_proj.weight", "attn_output.weight", {c.hidden, queries});
    if (c.query_key_norm) {
      tensor("self_attn.q_norm.weight", "attn_q_norm.weight", {c.head_size});
      tensor("self_attn.k_norm.weight", "attn_k_norm.weight", {c.head_size});
    }
    tensor("post_attention_layernorm.weight", "ffn_norm.weight", {c.hidden});
    tensor("mlp.gate_proj.weight", "ffn_gate.weight", {c.feed_forward, c.hidden});
    tensor("mlp.up_proj.weight", "ffn_up.weight", {c.feed_forward, c.hidden});
    tensor("mlp.down_proj.weight", "ffn_down.weight", {c.hidden, c.feed_forward});
  }

 private:
  void tensor(std::string_view name, std::string_view gguf_name, std::vector<std::int64_t> shape,
              std::int64_t rotated_heads = 0) const {
    use_({fmt::format("{}{}", prefix_, name), fmt::format("{}{}", gguf_prefix_, gguf_name), std::move(shape),
          config_.architecture == Architecture::llama ? rotated_heads : 0});
  }
  void projection(std::string_view name, std::string_view gguf_name, std::int64_t rows, std::int64_t heads) const {
    tensor(fmt::format("self_attn.{}.weight", name), fmt::format("{}.weight", gguf_name), {rows, config_.hidden},
           heads);
    if (config_.attention_bias)
      tensor(fmt::format("self_attn.{}.bias", name), fmt::format("{}.bias", gguf_name), {rows}, heads);
  }

  const ModelConfig& config_;
  std::string prefix_, gguf_prefix_;
  const Use& use_;
};

struct NamedSize {
  std::string_view name;
  std::int64_t value, most;
};

}  // namespace

void for_each_model_tensor(const ModelConfig& config, const Use& use) {
  use({"model.embed_tokens.weight", "token_embd.weight", {config.vocabulary, config.hidden}});
  for (std::int64_t layer = 0; layer < config.layers; ++layer) Block(config, layer, use).give();
  use({"model.norm.weight", "output_norm.weight", {config.hidden}});
  if (!config.tied_embeddings) use({"lm_head.weight", "output.weight", {config.vocabulary, config.hidden}});
}

std::vector<LinearModule> linear_modules(const ModelConfig& config) {
  const std::int64_t queries = config.heads * config.head_size, keys = config.kv_heads * config.head_size;
  return {{"self_attn.q_proj", queries, config.hidden},
          {"self_attn.k_proj", keys, config.hidden},
          {"self_attn.v_proj", keys, config.hidden},
          {"self_attn.o_proj", config.hidden, queries},
          {"mlp.gate_proj", config.feed_forward, config.hidden},
          {"mlp.up_proj", config.feed_forward, config.hidden},
          {"mlp.down_proj", config.hidden, config.feed_forward}};
}

void check_config(const ModelConfig& config, const std::string& file) {
  const NamedSize sizes[] = {{"layers", config.layers, max_layers},
                             {"hidden elements", config.hidden, max_size},
                             {"heads", config.heads, max_size},
                             {"key/value heads", config.kv_heads, max_size},
                             {"elements a head", config.head_size, max_size},
                             {"feed-forward elements", config.feed_forward, max_size},
                             {"tokens", config.vocabulary, max_size},
                             {"positions", config.context, max_size}};
  for (const NamedSize& size : sizes)
    if (size.value < 1 || size.value > size.most)
      throw Error(fmt::format("{}: a model of {} {} cannot be", file, size.value, size.name));
  if (config.heads % config.kv_heads != 0)
    throw Error(fmt::format("{}: {} heads cannot share {} key/value heads", file, config.heads, config.kv_heads));
  if (config.head_size % 2 != 0)
    throw Error(fmt::format("{}: heads of {} elements cannot be rotated in pairs", file, config.head_size));
  if (!(config.norm_epsilon > 0.0) || !std::isfinite(config.norm_epsilon) || !(config.rope_theta > 0.0) ||
      !std::isfinite(config.rope_theta))
    throw Error(fmt::format("{}: a norm epsilon of {} or a rope theta of {} cannot be", file, config.norm_epsilon,
                            config.rope_theta));
}

void check_shape(const WeightTensor& found, const ModelTensor& wanted, const std::string& shown_name,
                 const std::string& file) {
  if (found.shape != wanted.shape)
    throw Error(fmt::format("{}: the tensor \"{}\" has the shape ({}), where the model's sizes ask for ({})", file,
                            shown_name, fmt::join(found.shape, ", "), fmt::join(wanted.shape, ", ")));
  if (found.shape.size() == 1 && elements_per_block(found.type) != 1)
    throw Error(fmt::format("{}: the tensor \"{}\" is a vector in blocks of {}, which is not supported", file,
                            shown_name, to_string(found.type)));
}

std::int64_t parameter_count(const ModelWeights& model) {
  std::int64_t count = 0;
  for (const std::string& name : model.names()) count += model.find(name)->elements();
  return count;
}

}  // namespace cudal1
