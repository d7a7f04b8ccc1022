#include "model/sampling/repetition_guard.hpp"

#include <algorithm>

namespace cudal1 {

RepetitionGuard::RepetitionGuard(const RepetitionLimits& limits)
    : limits_(limits), equal_(static_cast<std::size_t>(std::max<std::int64_t>(0, limits.longest_period))) {}

std::optional<std::int64_t> RepetitionGuard::add(std::int32_t token) {
  std::optional<std::int64_t> shortest;
  const auto length = static_cast<std::int64_t>(text_.size());
  for (std::int64_t period = 1; period <= std::min(limits_.longest_period, length); ++period) {
    std::int64_t& equal = equal_[static_cast<std::size_t>(period - 1)];
    equal = text_[static_cast<std::size_t>(length - period)] == token ? equal + 1 : 0;
    const std::int64_t wanted = std::max(limits_.tokens, limits_.repeats * period) - period;  // the first time is free
    if (!shortest && equal >= wanted) shortest = period;
  }
  text_.push_back(token);
  return shortest;
}

}  // namespace cudal1
