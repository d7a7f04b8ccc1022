// What a call would have taken on an undisturbed host. On a shared machine others slow a core down by half for
// milliseconds to seconds, and a launch-bound call with it; a figure from such a moment says more about the neighbours
// than about the program.
#pragma once

#include <vector>

#include "device/device.hpp"

namespace cudal1 {

//! Learns from the calls of one plan how fast the host can enqueue them and how much of a slower host reaches the
//! device's clock. Enqueueing is our own code, the same in every call: whatever takes it longer comes from outside, and
//! a candidate has no part in it.
class HostInfluence {
 public:
  void add(const CallTimes& times);

  //! Was the host fast enough for the call to count?
  bool calm(const CallTimes& times) const { return disturbance(times) <= calm_limit; }
  //! How many times longer than undisturbed the host took; 1 where the device's work hides the host's.
  double disturbance(const CallTimes& times) const;

  //! The device's time of any number of calls, less what a slower host added to each.
  std::vector<double> undisturbed_ms(const std::vector<CallTimes>& calls) const;

 private:
  //! Beyond, host and device no longer follow a line.
  static constexpr double calm_limit = 1.5;

  double floor() const;
  double slope() const;
  std::vector<double> enqueue_ms_;  // sorted
  std::vector<CallTimes> calls_;    // in the order of time
};

}  // namespace cudal1
