// How often the oracle is computed again, from numbers that were moved a little.
#pragma once

namespace cudal1 {

inline constexpr int perturbation_draws = 3;
//! Behind a step. An element that may fall on its other side is seen there by one draw of a pair, unless moves cancel,
//! which they do not in the first pair.
inline constexpr int pairs_behind_steps = 8;

}  // namespace cudal1
