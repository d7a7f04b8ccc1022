// How long the host takes to enqueue a call when nobody disturbs it. On a shared machine others slow a core down by
// half and more for milliseconds to seconds; a figure from such a moment says more about the neighbours than about the
// program.
#pragma once

#include <deque>
#include <vector>

#include "device/device.hpp"

namespace cudal1 {

//! Learns from the calls of one plan. Enqueueing is our own code, the same in every call: whatever takes it longer
//! comes from outside, and a candidate has no part in it.
class HostPace {
 public:
  void add(double enqueue_ms);

  //! Of an undisturbed call, as far as those seen so far tell; 0 before the first.
  double undisturbed_ms() const;

 private:
  std::vector<double> sorted_;
  std::deque<double> recent_;  // in the order of time
};

//! How much longer, or shorter, the host takes for the second kind of call than for the first, at the same speed of the
//! host. From calls made in pairs, milliseconds apart, of which the calmer half counts.
double host_ratio(const std::vector<double>& first_ms, const std::vector<double>& second_ms);

//! What a call costs a caller who does not wait for each one to end: the host enqueues the next while the device works
//! on this one, so the slower of the two sets the pace. Without the gate the device's time holds the host's already.
double cost_ms(const CallTimes& call, double undisturbed_enqueue_ms);

}  // namespace cudal1
