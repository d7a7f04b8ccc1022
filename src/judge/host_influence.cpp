#include "judge/host_influence.hpp"

#include <algorithm>
#include <cmath>

#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

// Not the very fastest call, which has luck that others cannot repeat.
constexpr double floor_share = 0.03;
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
  if (enqueue_ms_.empty()) return 0.0;
  return enqueue_ms_[static_cast<std::size_t>(floor_share * static_cast<double>(enqueue_ms_.size()))];
}

double disturbance(const CallTimes& times, double floor_ms) {
  if (host_is_hidden(times) || floor_ms <= 0.0) return 1.0;
  return std::max(1.0, times.enqueue_ms / floor_ms);
}

// The median of the slopes between all pairs of calm calls (Theil and Sen): a few calls in which the device itself was
// late do not bend it. A microsecond of the host is at most a microsecond of the device.
double HostInfluence::slope() const {
  if (calls_in_slope_ == calls_.size()) return slope_;
  calls_in_slope_ = calls_.size();
  const double floor_ms = floor();
  std::vector<CallTimes> points;
  const std::size_t stride = 1 + calls_.size() / most_points;
  for (std::size_t i = 0; i < calls_.size(); i += stride)
    if (!host_is_hidden(calls_[i]) && disturbance(calls_[i], floor_ms) <= calm_limit) points.push_back(calls_[i]);
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
  if (host_is_hidden(times)) return times.device_ms;
  return times.device_ms - slope() * std::max(0.0, times.enqueue_ms - floor_ms);
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
