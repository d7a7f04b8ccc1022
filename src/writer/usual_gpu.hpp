// What techniques reckon with where nobody chooses: an H200.
#pragma once

#include <cstdint>

namespace cudal1 {

inline constexpr std::int64_t multiprocessors = 132;
inline constexpr std::int64_t threads_of_gpu = multiprocessors * 2048;  //!< fewer leave it idle

}  // namespace cudal1
