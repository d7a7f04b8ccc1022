// A decoder-only transformer (Llama, Qwen2, Qwen3) on packed sequences: for training and for log-probabilities.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/model_weights.hpp"
#include "model/transformer/lora.hpp"
#include "model/transformer/packed_tokens.hpp"

namespace cudal1 {

struct TransformerOptions {
  at::ScalarType dtype = at::kFloat;  //!< fp32, bf16 or fp16: of parameters and of what flows between layers
  at::Device device = at::kCPU;
  bool checkpointing = false;  //!< layers keep their inputs only and are computed again for gradients
};

//! Hears of each layer's keys and values as attention uses them: turned, (T, kv_heads, D) each.
using KeepKeysAndValues = std::function<void(std::int64_t layer, const at::Tensor& keys, const at::Tensor& values)>;

class Transformer {
 public:
  //! Every weight as the file has it, rounded once to the dtype. Merge an adapter into the weights before, see
  //! merged().
  Transformer(const ModelWeights& weights, const TransformerOptions& options);  //!< throws Error

  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;

  const ModelConfig& config() const { return config_; }
  const TransformerOptions& options() const { return options_; }
  void set_checkpointing(bool on) { options_.checkpointing = on; }

  //! After the last norm. `keep` is for decoding: with checkpointing it would hear of everything twice.
  at::Tensor hidden_states(const PackedTokens& tokens, const KeepKeysAndValues& keep = {}) const;  // (T, C)
  //! Scores of all tokens to come next.
  at::Tensor logits(const at::Tensor& hidden) const;  // (T, C) -> (T, V)
  at::Tensor forward(const PackedTokens& tokens) const { return logits(hidden_states(tokens)); }
  //! Log-probabilities of `targets` (T) to follow each position, in fp32; logits exist for `rows_at_once` positions at
  //! a time only, also in the backward pass.
  at::Tensor log_probabilities(const at::Tensor& hidden, const at::Tensor& targets,
                               std::int64_t rows_at_once = 256) const;  // (T, C), (T) -> (T)

  //! By Hugging Face's names. Those that shall be trained want requires_grad.
  const std::map<std::string, at::Tensor>& parameters() const { return parameters_; }
  const at::Tensor& parameter(const std::string& name) const;

  //! Adapters stay apart from the weights and can be trained: fp32 leaves. Throws Error for one that does not fit, and
  //! for a name that is taken.
  void add_adapter(const std::string& name, const LoraAdapter& adapter);
  void use_adapter(const std::string& name);           //!< empty: none. Throws Error for a name that was not added
  LoraAdapter adapter(const std::string& name) const;  //!< as it is now
  //! "model.layers.0.self_attn.q_proj.lora_A" and so on.
  std::map<std::string, at::Tensor> adapter_parameters(const std::string& name) const;
  float adapter_scale(const std::string& name) const { return find_adapter(name).scale; }

 private:
  struct Lora {
    at::Tensor a, b;  //!< (rank, in), (out, rank), fp32
  };
  struct Adapter {
    LoraAdapter description;  //!< without its modules, which are tensors here
    float scale = 1.0F;
    std::map<std::string, Lora> layers;
  };

  at::Tensor linear(const at::Tensor& input, const std::string& layer) const;
  at::Tensor norm(const at::Tensor& input, const std::string& name) const;
  at::Tensor attention(const at::Tensor& input, std::int64_t layer, const PackedTokens& tokens,
                       const at::Tensor& cosines, const at::Tensor& sines, const KeepKeysAndValues& keep) const;
  at::Tensor feed_forward(const at::Tensor& input, std::int64_t layer) const;
  at::Tensor layer(const at::Tensor& input, std::int64_t index, const PackedTokens& tokens, const at::Tensor& cosines,
                   const at::Tensor& sines, const KeepKeysAndValues& keep) const;
  //! What layer `index` computes with, adapter included: what its gradients flow to.
  std::vector<at::Tensor> trained_tensors(std::int64_t index) const;
  const at::Tensor& output_matrix() const;
  const Adapter& find_adapter(const std::string& name) const;

  ModelConfig config_;
  TransformerOptions options_;
  std::map<std::string, at::Tensor> parameters_;
  std::map<std::string, Adapter> adapters_;
  const Adapter* used_adapter_ = nullptr;
  at::Tensor frequencies_;  //!< (D / 2)
};

}  // namespace cudal1
