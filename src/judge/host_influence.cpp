#include "judge/host_influence.hpp"

#include <algorithm>
#include <cmath>

#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

// Not the very fastest call, which has luck that others cannot repeat.
constexpr double floor_share = 0.05;
// The device is busy for longer than the host by far, and never waits for it.
constexpr double hidden_share = 0.25;
// Slopes between points that are closer than this, relative to the floor, are all noise.
constexpr double closest = 0.02;
constexpr std::size_t most_points = 300, fewest_points = 8;

bool host_is_hidden(const CallTimes& times) { return times.enqueue_ms <= hidden_share * times.device_ms; }

}  // namespace

void HostInfluence::add(const CallTimes& times) {
  enqueue_ms_.insert(std::upper_bound(enqueue_ms_.begin(), enqueue_ms_.end(), times.enqueue_ms), times.enqueue_ms);
  calls_.push_back(times);
}

double HostInfluence::floor() const {
  return enqueue_ms_[static_cast<std::size_t>(floor_share * static_cast<double>(enqueue_ms_.size()))];
}

double HostInfluence::disturbance(const CallTimes& times) const {
  if (host_is_hidden(times) || enqueue_ms_.empty()) return 1.0;
  return std::max(1.0, times.enqueue_ms / floor());
}

// The median of the slopes between all pairs of calm calls (Theil and Sen): a few calls in which the device itself was
// late do not bend it. A microsecond of the host is at most a microsecond of the device.
double HostInfluence::slope() const {
  std::vector<CallTimes> points;
  const std::size_t stride = 1 + calls_.size() / most_points;
  for (std::size_t i = 0; i < calls_.size(); i += stride)
    if (calm(calls_[i]) && !host_is_hidden(calls_[i])) points.push_back(calls_[i]);
  if (points.size() < fewest_points) return 0.0;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = i + 1; k < points.size(); ++k) {
      const double host = points[k].enqueue_ms - points[i].enqueue_ms;
      if (std::abs(host) > closest * floor()) slopes.push_back((points[k].device_ms - points[i].device_ms) / host);
    }
  }
  return slopes.empty() ? 0.0 : std::clamp(median(std::move(slopes)), 0.0, 1.0);
}

std::vector<double> HostInfluence::undisturbed_ms(const std::vector<CallTimes>& calls) const {
  if (calls_.empty()) return std::vector<double>(calls.size(), 0.0);
  const double per_host_ms = slope(), fastest = floor();
  std::vector<double> result;
  for (const CallTimes& times : calls) {
    const double late = host_is_hidden(times) ? 0.0 : std::max(0.0, times.enqueue_ms - fastest);
    result.push_back(times.device_ms - per_host_ms * late);
  }
  return result;
}

}  // namespace cudal1
