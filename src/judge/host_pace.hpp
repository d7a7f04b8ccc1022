// What the host's part of a call costs. On a shared machine others slow a core down by half and more, for milliseconds
// or for good, and a figure from such a moment says more about the neighbours than about the program. So the host's time
// is counted in empty launches, which are measured in the same moment and are slowed down as much.
#pragma once

#include <deque>
#include <vector>

#include "device/device.hpp"

namespace cudal1 {

//! The host that times are given for: one that takes this long for an empty launch, as an H200's was seen to do when
//! nobody disturbed it.
inline constexpr double nominal_launch_ms = 0.0022;

//! What enqueueing a call took, at the nominal host's speed.
double nominal_enqueue_ms(const CallTimes& call);

//! Learns from the calls of one plan in one process. Enqueueing is our own code, the same in every call: whatever takes
//! it longer comes from outside, and a candidate has no part in it.
class HostPace {
 public:
  void add(const CallTimes& call);

  //! The median of the calls so far; 0 before the first.
  double enqueue_ms() const;
  //! Half its 95% interval, relative.
  double uncertainty() const;

 private:
  std::vector<double> sorted_;
  std::deque<double> recent_;  // in the order of time
};

//! What a call costs a caller who does not wait for each one to end: the host enqueues the next while the device works
//! on this one, so the slower of the two sets the pace. Without the gate the device's time holds the host's already.
double cost_ms(const CallTimes& call, double enqueue_ms);

}  // namespace cudal1
