// Llama 3's stretching of positions as GGUF has it: a divisor for each frequency in place of the four numbers.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/model_config.hpp"

namespace cudal1 {

//! By what the frequency of each pair of a head's elements is divided; head_size / 2 numbers.
std::vector<double> rope_factors(const RopeScaling& scaling, double rope_theta, std::int64_t head_size);

//! The scaling that gives these factors, if Llama 3's constants do (a context of 8,192, frequency factors of 1 and 4).
std::optional<RopeScaling> scaling_of_factors(std::span<const float> factors, double rope_theta,
                                              std::int64_t head_size);

}  // namespace cudal1
