// How much a task's results depend on its inputs. Some ask for nothing: whatever goes in, the same comes out.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "judge/match.hpp"

namespace cudal1 {

struct InputDependence {
  //! Every output is the same over several native input sets, or below fp32's normal range. Such a task is marked, and
  //! no mean counts it.
  bool degenerate = true;
  std::vector<Variation> variation;  //!< of every output, then every state
};

//! `constants`: weights and states.
InputDependence input_dependence(const MatchRule& rule, const Task& task, const TensorTable& constants,
                                 at::Device device, Random& random);

}  // namespace cudal1
