// Which tensors a model of a certain configuration is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/model_config.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {

struct ModelTensor {
  std::string name;                 //!< Hugging Face's: "model.layers.0.self_attn.q_proj.weight"
  std::string gguf_name;            //!< "blk.0.attn_q.weight"
  std::vector<std::int64_t> shape;  //!< outermost first
  std::int64_t rotated_heads = 0;   //!< of queries and keys: heads whose rows GGUF's Llama has in another order
};

//! Calls `use` for each tensor: embedding, layer by layer, last norm, and the output matrix where it is not tied.
void for_each_model_tensor(const ModelConfig& config, const std::function<void(const ModelTensor&)>& use);

//! A linear layer of every block, as adapters name it.
struct LinearModule {
  std::string name;  //!< "self_attn.q_proj"
  std::int64_t out = 0, in = 0;
};
std::vector<LinearModule> linear_modules(const ModelConfig& config);

//! Throws Error, beginning with `file`, where sizes are absent, absurd, or do not fit each other.
void check_config(const ModelConfig& config, const std::string& file);

//! Throws Error, beginning with `file`, where the tensor has another shape, or a vector is quantised.
void check_shape(const WeightTensor& found, const ModelTensor& wanted, const std::string& shown_name,
                 const std::string& file);

std::int64_t parameter_count(const ModelWeights& model);

}  // namespace cudal1
