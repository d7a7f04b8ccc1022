#include "judge/host_influence.hpp"

#include <algorithm>
#include <cmath>

#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

// Not the very fastest call, which has luck that others cannot repeat.
constexpr double floor_share = 0.03;
constexpr double hidden_share = 0.25;
// What the host waits at least for the end of work that it has only enqueued.
constexpr double shortest_wait_ms = 0.002;
// Slopes between points that are closer than this, relative to the floor, are all noise.
constexpr double closest = 0.02;
constexpr std::size_t most_points = 300, fewest_points = 8;

// Calls that are remembered: the machine of an hour ago says little about this one.
constexpr std::size_t most_calls = 4000;

//! The device is busy for longer than the host by far and never waits for it; or the host waited for the device while
//! it enqueued (a library step that synchronises), and its time is not its own.
bool tells_nothing(const CallTimes& times) {
  const double wait_at_end = times.host_ms - times.enqueue_ms;
  return times.enqueue_ms <= hidden_share * times.device_ms || wait_at_end < shortest_wait_ms;
}

}  // namespace

void HostInfluence::add(const CallTimes& times) {
  slope_is_current_ = false;
  enqueue_ms_.insert(std::upper_bound(enqueue_ms_.begin(), enqueue_ms_.end(), times.enqueue_ms), times.enqueue_ms);
  calls_.push_back(times);
  if (calls_.size() <= most_calls) return;
  enqueue_ms_.erase(std::lower_bound(enqueue_ms_.begin(), enqueue_ms_.end(), calls_.front().enqueue_ms));
  calls_.pop_front();
}

double HostInfluence::floor() const {
  if (enqueue_ms_.empty()) return 0.0;
  return enqueue_ms_[static_cast<std::size_t>(floor_share * static_cast<double>(enqueue_ms_.size()))];
}

double disturbance(const CallTimes& times, double floor_ms) {
  if (tells_nothing(times) || floor_ms <= 0.0) return 1.0;
  return std::max(1.0, times.enqueue_ms / floor_ms);
}

// The median of the slopes between all pairs of calm calls (Theil and Sen): a few calls in which the device itself was
// late do not bend it. A microsecond of the host is at most a microsecond of the device.
double HostInfluence::slope() const {
  if (slope_is_current_) return slope_;
  slope_is_current_ = true;
  const double floor_ms = floor();
  std::vector<CallTimes> points;
  const std::size_t stride = 1 + calls_.size() / most_points;
  for (std::size_t i = 0; i < calls_.size(); i += stride)
    if (!tells_nothing(calls_[i]) && disturbance(calls_[i], floor_ms) <= calm_limit) points.push_back(calls_[i]);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = i + 1; k < points.size(); ++k) {
      const double host = points[k].enqueue_ms - points[i].enqueue_ms;
      if (std::abs(host) > closest * floor_ms) slopes.push_back((points[k].device_ms - points[i].device_ms) / host);
    }
  }
  return slope_ = points.size() < fewest_points || slopes.empty() ? 0.0 : std::clamp(median(slopes), 0.0, 1.0);
}

double HostInfluence::undisturbed_ms(const CallTimes& times, double floor_ms) const {
  if (tells_nothing(times)) return times.device_ms;
  // No further than the line is known, and never most of the time.
  const double late = std::clamp(times.enqueue_ms - floor_ms, 0.0, (calm_limit - 1.0) * floor_ms);
  return times.device_ms - std::min(slope() * late, 0.5 * times.device_ms);
}

double host_ratio(const std::vector<CallTimes>& first, const std::vector<CallTimes>& second) {
  struct Pair {
    double disturbance, ratio;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i].enqueue_ms, b = second[i].enqueue_ms;
    // Ranked by the product: ranked by one of the two, the calmer half would favour it.
    if (a > 0.0) pairs.push_back({a * b, b / a});
  }
  if (pairs.empty()) return 1.0;
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.disturbance < b.disturbance; });
  std::vector<double> ratios;
  for (std::size_t i = 0; i < (pairs.size() + 1) / 2; ++i) ratios.push_back(pairs[i].ratio);
  return median(std::move(ratios));
}

}  // namespace cudal1
