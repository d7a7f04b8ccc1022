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
  //! Of every output, then every state: what two draws differ by, root mean square over the elements and over the
  //! square root of two; 0 for integers.
  std::vector<double> variation;
};

//! `constants`: weights and states.
InputDependence input_dependence(const MatchRule& rule, const Task& task, const TensorTable& constants,
                                 at::Device device, Random& random);

}  // namespace cudal1
