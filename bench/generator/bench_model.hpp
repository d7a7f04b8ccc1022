// The model that is measured: the one that is asked for, else the one that was fetched, else random weights of its
// shape.
#pragma once

#include <memory>
#include <string>

#include "model/model_weights.hpp"

namespace cudal1::bench {

struct NamedWeights {
  std::unique_ptr<ModelWeights> weights;
  std::string name;
  std::string path;  //!< empty: random weights
};

NamedWeights chosen_weights(const std::string& model);

//! Of SmolLM2-135M's kind, but tiny: to see that a program works.
NamedWeights tiny_weights();

//! "an H200", or whatever the GPU is called.
std::string short_name(const std::string& gpu);

}  // namespace cudal1::bench
