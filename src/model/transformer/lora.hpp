// LoRA adapters: new ones, and weights with one merged into them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/files/lora_adapter.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {

//! For every linear layer of the model. As PEFT begins: A is drawn uniformly from +-1/sqrt(in), B is 0, so that the
//! model is what it was.
LoraAdapter new_adapter(const ModelConfig& config, std::int64_t rank, double alpha, std::uint64_t seed);

//! The model's weights with the adapter added in fp32; layers without an adapter stay as they are. The weights must
//! outlive what is returned. There is no way back from merged weights: merge another adapter from the base. Throws
//! Error where check_adapter does; `adapter_name` is for its message.
std::unique_ptr<ModelWeights> merged(const ModelWeights& weights, const LoraAdapter& adapter,
                                     const std::string& adapter_name);

}  // namespace cudal1
