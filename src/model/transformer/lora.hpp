// LoRA adapters in memory: what is added to linear layers, and weights with an adapter merged into them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/model_weights.hpp"

namespace cudal1 {

//! Adds scale * B A to the weight of one linear layer.
struct LoraMatrices {
  std::int64_t rank = 0;
  std::vector<float> a;  //!< (rank, in)
  std::vector<float> b;  //!< (out, rank)
  float scale = 1.0F;
};

struct LoraLayers {
  std::string name;
  std::map<std::string, LoraMatrices> layers;  //!< by the layer's name: "model.layers.0.self_attn.q_proj"
};

//! Throws Error where the adapter names a layer that the model lacks or has matrices of another size.
void check_lora_layers(const LoraLayers& adapter, const ModelWeights& weights);

//! The model's weights with the adapter added in fp32; layers without an adapter stay as they are. The weights must
//! outlive what is returned. There is no way back from merged weights: merge another adapter from the base.
std::unique_ptr<ModelWeights> merged(const ModelWeights& weights, const LoraLayers& adapter);

}  // namespace cudal1
