// Tasks that ask for nothing: whatever goes in, the same comes out.
#pragma once

#include "base/random.hpp"
#include "judge/match.hpp"

namespace cudal1 {

//! Is every output the same over several native input sets, or below fp32's normal range? Such a task is marked, and no
//! mean counts it. `constants`: weights and states.
bool output_never_changes(const MatchRule& rule, const Task& task, const TensorTable& constants, at::Device device,
                          Random& random);

}  // namespace cudal1
