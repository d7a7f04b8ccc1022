// What a call would have taken on an undisturbed host. On a shared machine others slow a core down by half for
// milliseconds to seconds, and a launch-bound call with it; a figure from such a moment says more about the neighbours
// than about the program.
#pragma once

#include <deque>
#include <vector>

#include "device/device.hpp"

namespace cudal1 {

//! Learns from the calls of one plan how fast the host can enqueue them and how much of a slower host reaches the
//! device's clock. Enqueueing is our own code, the same in every call: whatever takes it longer comes from outside, and
//! a candidate has no part in it.
class HostInfluence {
 public:
  void add(const CallTimes& times);

  //! How long the undisturbed host takes to enqueue a call, as far as the calls seen so far tell.
  double floor() const;
  //! The device's time of a call, less what a host slower than `floor_ms` added to it.
  double undisturbed_ms(const CallTimes& times, double floor_ms) const;

 private:
  double slope() const;
  std::vector<double> enqueue_ms_;  // sorted
  std::deque<CallTimes> calls_;     // in the order of time
  mutable double slope_ = 0.0;      // costs some ten thousand comparisons
  mutable bool slope_is_current_ = false;
};

//! How many times longer than undisturbed the host took; 1 where the device's work hides the host's, or the host's time
//! is not its own.
double disturbance(const CallTimes& times, double floor_ms);

//! Up to here a call counts; beyond, host and device no longer follow a line.
inline constexpr double calm_limit = 1.5;

//! How much longer, or shorter, the host takes for the second kind of call than for the first, at the same speed of the
//! host. From calls made in pairs, milliseconds apart, of which the calmer half counts.
double host_ratio(const std::vector<CallTimes>& first, const std::vector<CallTimes>& second);

}  // namespace cudal1
