#pragma once

#include <cmath>
#include <span>

namespace cudal1 {

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;  //!< the root of the mean squared distance from the mean: over n, not n - 1
};

//! Zeros where there are no values. Of equal values the deviation is exactly 0.
inline Moments moments_of(std::span<const double> values) {
  if (values.empty()) return {};
  const double count = static_cast<double>(values.size());
  // Taken off first, so that equal values have no rounding in their mean.
  const double shift = values.front();
  double sum = 0.0, squares = 0.0;
  for (const double value : values) sum += value - shift;
  const double mean = sum / count;
  for (const double value : values) squares += (value - shift - mean) * (value - shift - mean);
  return {shift + mean, std::sqrt(squares / count)};
}

}  // namespace cudal1
