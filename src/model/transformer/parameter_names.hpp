// The tensors that a transformer of a given configuration is made of, by Hugging Face's names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_config.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {

struct ParameterShape {
  std::string name;                 //!< "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::int64_t> shape;  //!< outermost first
};

//! "model.layers.0." followed by `part` ("self_attn.q_proj").
std::string layer_name(std::int64_t layer, std::string_view part);

//! All of them, in the order of computation. The output matrix is left out where it is the embedding.
std::vector<ParameterShape> parameter_shapes(const ModelConfig& config);

//! Throws Error where the numbers cannot make a transformer, or a tensor is missing or has another shape.
void check_weights(const ModelWeights& weights);

}  // namespace cudal1
