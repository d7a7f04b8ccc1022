// Does a program recognise the usual inputs? Then it is slower on others, and those times count.
#pragma once

#include <vector>

namespace cudal1 {

enum class ShortCut {
  none,
  suspected,  //!< too few pairs to be sure
  taken,
};

//! So much slower, or more, on derived inputs is a short cut on the usual ones.
inline constexpr double short_cut_limit = 0.9;

//! Ratios of paired times on the task's own inputs and on derived ones.
ShortCut short_cut_in(const std::vector<double>& native, const std::vector<double>& derived);

}  // namespace cudal1
