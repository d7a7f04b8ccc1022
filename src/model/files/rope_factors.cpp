#include "model/files/rope_factors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cudal1 {
namespace {

// Who wrote the file computed in fp32; another context or another frequency factor is off by several percent.
constexpr double relative_tolerance = 1e-3;

}  // namespace

std::vector<double> rope_factors(const RopeScaling& scaling, double rope_theta, std::int64_t head_size) {
  std::vector<double> factors;
  for (std::int64_t pair = 0; pair < head_size / 2; ++pair) {
    const double exponent = 2.0 * static_cast<double>(pair) / static_cast<double>(head_size);
    const double wavelength = 2.0 * std::numbers::pi * std::pow(rope_theta, exponent);
    const double turns = static_cast<double>(scaling.original_context) / wavelength;  // within the original context
    const double low = scaling.low_frequency_factor, high = scaling.high_frequency_factor;
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    factors.push_back(1.0 / ((1.0 - kept) / scaling.factor + kept));
  }
  return factors;
}

std::optional<RopeScaling> scaling_of_factors(std::span<const float> factors, double rope_theta,
                                              std::int64_t head_size) {
  if (factors.empty() || factors.size() != static_cast<std::size_t>(head_size / 2)) return std::nullopt;
  RopeScaling scaling{.factor = std::ranges::max(factors),
                      .low_frequency_factor = 1.0,
                      .high_frequency_factor = 4.0,
                      .original_context = 8192};
  if (!std::isfinite(scaling.factor) || scaling.factor < 1.0) return std::nullopt;
  const std::vector<double> expected = rope_factors(scaling, rope_theta, head_size);
  for (std::size_t i = 0; i < factors.size(); ++i)
    if (!(std::abs(factors[i] - expected[i]) <= relative_tolerance * expected[i])) return std::nullopt;
  return scaling;
}

}  // namespace cudal1
