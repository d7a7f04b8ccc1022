// What the host's part of a call costs. It is counted, not measured: on a shared machine the same call was seen to take
// between one and three times as long to enqueue, for milliseconds or for minutes, and a figure made from that says
// more about the neighbours than about the program.
#pragma once

#include "device/device.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! The host that results are given for: a fast one, so that neither a reference of many library calls nor a candidate
//! of many launches looks slower than it is. bench/evaluator.sh --only host compares it with the host at hand.
struct NominalHost {
  double launch_ms = 0.002;  //!< a kernel, a copy, a fill
  double op_ms = 0.005;      //!< a library call: dispatch, memory for the result, launch
  double graph_ms = 0.0017;  //!< a CUDA Graph
  double patch_ms = 0.0003;  //!< new addresses for a kernel inside it
};

//! How long the nominal host takes to enqueue a call of this plan.
double nominal_enqueue_ms(const Plan& plan, const NominalHost& host = {});

//! What a call costs a caller who does not wait for each one to end: the host enqueues the next while the device works
//! on this one, so the slower of the two sets the pace. Without the gate the device's time holds the host's already.
double cost_ms(const CallTimes& call, double enqueue_ms);

}  // namespace cudal1
