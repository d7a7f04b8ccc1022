#include "model/transformer/rotary.hpp"

#include <cmath>
#include <numbers>

namespace cudal1 {
namespace {

//! Llama 3: short waves stay, long ones are stretched by the factor, those between are blended.
float stretched(float frequency, const RopeScaling& scaling) {
  const double context = static_cast<double>(scaling.original_context);
  const double wave_length = 2.0 * std::numbers::pi / frequency;
  if (wave_length < context / scaling.high_frequency_factor) return frequency;
  if (wave_length > context / scaling.low_frequency_factor) return static_cast<float>(frequency / scaling.factor);
  const double share = (context / wave_length - scaling.low_frequency_factor) /
                       (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return static_cast<float>((1.0 - share) * frequency / scaling.factor + share * frequency);
}

}  // namespace

std::vector<float> rotary_frequencies(const ModelConfig& config) {
  std::vector<float> frequencies;
  for (std::int64_t pair = 0; pair < config.head_size / 2; ++pair) {
    // fp32 powers, as the implementation that the models were trained with has them
    const float exponent = static_cast<float>(2 * pair) / static_cast<float>(config.head_size);
    const float frequency = 1.0F / std::pow(static_cast<float>(config.rope_theta), exponent);
    frequencies.push_back(config.rope_scaling ? stretched(frequency, *config.rope_scaling) : frequency);
  }
  return frequencies;
}

}  // namespace cudal1
