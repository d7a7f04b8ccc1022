#include "judge/host_floor.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

// Not the very fastest call, which has luck that others cannot repeat.
constexpr double floor_share = 0.05;
// The device is busy for longer than the host by far, and never waits for it.
constexpr double hidden_share = 0.25;

}  // namespace

void HostFloor::add(const CallTimes& times) {
  enqueue_ms_.insert(std::upper_bound(enqueue_ms_.begin(), enqueue_ms_.end(), times.enqueue_ms), times.enqueue_ms);
}

double HostFloor::floor() const {
  return enqueue_ms_[static_cast<std::size_t>(floor_share * static_cast<double>(enqueue_ms_.size()))];
}

double HostFloor::disturbance(const CallTimes& times) const {
  if (times.enqueue_ms <= hidden_share * times.device_ms || enqueue_ms_.empty()) return 1.0;
  return std::max(1.0, times.enqueue_ms / floor());
}

}  // namespace cudal1
