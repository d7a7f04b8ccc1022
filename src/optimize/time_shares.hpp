// Several searches, some of them at once, within one time for all.
#pragma once

#include <algorithm>
#include <cstddef>

namespace cudal1 {

//! What a search that begins now may take, where `at_once` may run beside each other: of what is left, less what those
//! that run were `promised` and have not had, an equal part for it and all that begin later.
inline double share_of_time(double seconds_left, std::size_t at_once, double promised, std::size_t searches_left) {
  if (seconds_left <= 0.0 || searches_left == 0) return 0.0;
  const double free = seconds_left * static_cast<double>(at_once) - promised;
  return std::clamp(free / static_cast<double>(searches_left), 0.0, seconds_left);
}

}  // namespace cudal1
