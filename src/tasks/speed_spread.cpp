#include "tasks/speed_spread.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1 {

double speed_quantile(std::vector<double> numbers, double share) {
  if (numbers.empty()) return 0.0;
  std::ranges::sort(numbers);
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, numbers.size() - 1);
  return numbers[below] + (place - static_cast<double>(below)) * (numbers[above] - numbers[below]);
}

bool is_worth_training(const std::vector<double>& speeds, const SpeedSpread& wanted) {
  if (speeds.empty() || speeds.size() < wanted.programs) return false;
  return speed_quantile(speeds, 0.9) >= wanted.least_ratio * speed_quantile(speeds, 0.1);
}

}  // namespace cudal1
