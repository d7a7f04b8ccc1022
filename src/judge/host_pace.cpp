#include "judge/host_pace.hpp"

#include <algorithm>

#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

// Not the very fastest call, which has luck that others cannot repeat.
constexpr double undisturbed_share = 0.05;
// Calls that are remembered: the machine of an hour ago says little about this one.
constexpr std::size_t most_calls = 4000;

}  // namespace

void HostPace::add(double enqueue_ms) {
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), enqueue_ms), enqueue_ms);
  recent_.push_back(enqueue_ms);
  if (recent_.size() <= most_calls) return;
  sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), recent_.front()));
  recent_.pop_front();
}

double HostPace::undisturbed_ms() const {
  if (sorted_.empty()) return 0.0;
  return sorted_[static_cast<std::size_t>(undisturbed_share * static_cast<double>(sorted_.size()))];
}

double host_ratio(const std::vector<double>& first_ms, const std::vector<double>& second_ms) {
  struct Pair {
    double product, ratio;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < first_ms.size(); ++i)
    // Ranked by the product: ranked by one of the two, the calmer half would favour it.
    if (first_ms[i] > 0.0) pairs.push_back({first_ms[i] * second_ms[i], second_ms[i] / first_ms[i]});
  if (pairs.empty()) return 1.0;
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.product < b.product; });
  std::vector<double> ratios;
  for (std::size_t i = 0; i < (pairs.size() + 1) / 2; ++i) ratios.push_back(pairs[i].ratio);
  return median(std::move(ratios));
}

double cost_ms(const CallTimes& call, double undisturbed_enqueue_ms) {
  return call.gate == Gate::held ? std::max(call.device_ms, undisturbed_enqueue_ms) : call.device_ms;
}

}  // namespace cudal1
