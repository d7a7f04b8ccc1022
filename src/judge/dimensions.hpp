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

}  // namespace cudal1
