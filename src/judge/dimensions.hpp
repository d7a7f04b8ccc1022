#pragma once

#include <cstdint>
#include <vector>

namespace cudal1 {

//! The dimensions of a tensor of that rank without one.
inline std::vector<std::int64_t> all_but(std::int64_t kept, std::int64_t rank) {
  std::vector<std::int64_t> dimensions;
  for (std::int64_t d = 0; d < rank; ++d)
    if (d != kept) dimensions.push_back(d);
  return dimensions;
}

//! A contiguous tensor about one of its dimensions: outer x count x inner elements.
struct Extent {
  template <class Sizes>
  Extent(const Sizes& sizes, std::int64_t dimension) : count(sizes[static_cast<std::size_t>(dimension)]) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (static_cast<std::int64_t>(d) < dimension) outer *= sizes[d];
      if (static_cast<std::int64_t>(d) > dimension) inner *= sizes[d];
    }
  }
  std::int64_t outer = 1, count, inner = 1;
};

}  // namespace cudal1
