// Several searches on one device: whoever has had the least of it is next.
#pragma once

#include <cstddef>
#include <vector>

namespace cudal1 {

//! The index of the one that has spent the least; the first of equals. `seconds` is not empty.
inline std::size_t next_in_turn(const std::vector<double>& seconds) {
  std::size_t least = 0;
  for (std::size_t i = 1; i < seconds.size(); ++i)
    if (seconds[i] < seconds[least]) least = i;
  return least;
}

//! What a search that begins now may take: an equal part of what is left for it and those after it.
inline double share_of_time(double seconds_left, std::size_t searches_left) {
  return seconds_left > 0.0 && searches_left > 0 ? seconds_left / static_cast<double>(searches_left) : 0.0;
}

}  // namespace cudal1
