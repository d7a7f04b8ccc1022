#pragma once

#include <string>

#include "base/status.hpp"

namespace cudal1 {

//! What became of one sampled answer, as far as training looks at it.
struct SampleOutcome {
  Status status = Status::parse_error;
  std::string plan_hash = {};  //!< empty: no plan came of the answer
  double speedup = 0.0;        //!< where the status is ok, with its 95% interval
  double speedup_low = 0.0, speedup_high = 0.0;
  double replaced_share = 0.0;  //!< of the reference's time: that of the nodes which kernels replace
};

}  // namespace cudal1
