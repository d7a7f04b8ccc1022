#include "tasks/choices.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

constexpr double odd_share_of_hardest = 0.5;

}  // namespace

std::int64_t Choices::count(std::int64_t fewest, std::int64_t most) {
  std::int64_t made = fewest;
  for (std::int64_t i = fewest; i < most; ++i) made += hard_chance(0.9) ? 1 : 0;
  return made;
}

std::int64_t Choices::plain_size(int low_exponent, int high_exponent) {
  const std::int64_t exponent = low_exponent + below(high_exponent - low_exponent + 1);
  const std::int64_t quarters = exponent == high_exponent || chance(0.5) ? 4 : 5 + below(3);
  return (std::int64_t{1} << exponent) * quarters / 4;
}

std::int64_t Choices::size(int low_exponent, int high_exponent) {
  const std::int64_t plain = plain_size(low_exponent, high_exponent);
  if (!hard_chance(odd_share_of_hardest)) return plain;
  return plain - 1 - below(std::max<std::int64_t>(1, plain / 8));
}

std::int64_t Choices::size_of_multiple(int low_exponent, int high_exponent, std::int64_t step) {
  return std::max<std::int64_t>(1, size(low_exponent, high_exponent) / step) * step;
}

}  // namespace cudal1
