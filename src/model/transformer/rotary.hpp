// Rotary positions: how fast each pair of a head's elements turns with the position.
#pragma once

#include <vector>

#include "model/model_config.hpp"

namespace cudal1 {

//! Radians per position of each pair (i, i + head_size / 2), head_size / 2 of them, stretched where the model says so.
std::vector<float> rotary_frequencies(const ModelConfig& config);

}  // namespace cudal1
