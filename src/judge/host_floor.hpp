// Was the host undisturbed during a call? On a shared machine others slow a core down by a third for seconds at a time,
// and a launch-bound call with it. Pairs from such moments say more about the neighbours than about the programs.
#pragma once

#include <vector>

#include "device/device.hpp"

namespace cudal1 {

//! Knows how fast the host can enqueue one plan's calls, from those it has seen. Enqueueing is our own code, the same
//! in every call, so whatever takes it longer comes from outside; a candidate has no part in it.
class HostFloor {
 public:
  void add(const CallTimes& times);

  //! How many times longer than undisturbed the host took; 1 where the device's work hides the host's.
  double disturbance(const CallTimes& times) const;

 private:
  double floor() const;
  std::vector<double> enqueue_ms_;  // sorted
};

//! Up to here a call counts as undisturbed.
inline constexpr double calm_limit = 1.2;

}  // namespace cudal1
