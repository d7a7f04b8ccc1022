// Does a task compute what its module computes? Both run on the same inputs and weights: the task here, node by node
// through ATen, the module in Python, in eager mode. Includes no LibTorch, so that users stay light.
#pragma once

#include "parity/parity_process.hpp"

namespace cudal1 {

//! Draws one native input set, runs both and compares outputs and states within the match rule's budget. Throws Error
//! when a side does not run.
ParityReport compare_with_eager(const ParityRequest& request);

}  // namespace cudal1
