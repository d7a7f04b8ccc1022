#include "judge/host_pace.hpp"

#include <algorithm>

#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

// Calls that are remembered: the machine of an hour ago says little about this one.
constexpr std::size_t most_calls = 4000;

}  // namespace

double nominal_enqueue_ms(const CallTimes& call) {
  return call.launch_ms > 0.0 ? call.enqueue_ms / call.launch_ms * nominal_launch_ms : call.enqueue_ms;
}

void HostPace::add(const CallTimes& call) {
  const double enqueue_ms = nominal_enqueue_ms(call);
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), enqueue_ms), enqueue_ms);
  recent_.push_back(enqueue_ms);
  if (recent_.size() <= most_calls) return;
  sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), recent_.front()));
  recent_.pop_front();
}

double HostPace::enqueue_ms() const { return sorted_.empty() ? 0.0 : sorted_[sorted_.size() / 2]; }

double HostPace::uncertainty() const { return sorted_.empty() ? 0.0 : median_interval(sorted_).relative_half_width(); }

double cost_ms(const CallTimes& call, double enqueue_ms) {
  return call.gate == Gate::held ? std::max(call.device_ms, enqueue_ms) : call.device_ms;
}

}  // namespace cudal1
