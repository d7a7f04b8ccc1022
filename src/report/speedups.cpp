#include "report/speedups.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1 {
namespace {

std::vector<TimedPair> pairs_of(const WayTimes& baseline, const WayTimes& program) {
  std::vector<TimedPair> pairs;
  const std::size_t rounds = std::min(baseline.device_ms.size(), program.device_ms.size());
  for (std::size_t i = 0; i < rounds; ++i) pairs.push_back({baseline.device_ms[i], program.device_ms[i]});
  return pairs;
}

std::vector<TimedPair> pairs_against(const BenchRow& row, const std::string& against) {
  const auto baseline = against == best_of_all ? best_baseline(row) : std::optional(against);
  const WayTimes *theirs = baseline ? row.find(*baseline) : nullptr, *ours = row.find(program_way);
  return row.is_correct() && theirs && ours ? pairs_of(*theirs, *ours) : std::vector<TimedPair>();
}

//! Of the median, by order statistics; of few values, all there is.
Interval widened(std::vector<double> values, double deviations) {
  std::ranges::sort(values);
  const double n = static_cast<double>(values.size()), reach = 0.5 * deviations * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::floor(std::max(0.0, 0.5 * n - reach)));
  const auto high = static_cast<std::size_t>(std::ceil(std::min(n - 1.0, 0.5 * n + reach)));
  return {values[low], values[high]};
}

}  // namespace

std::vector<std::string> baselines_of(const std::vector<BenchRow>& rows) {
  std::vector<std::string> names;
  for (const BenchRow& row : rows)
    for (const WayTimes& way : row.ways)
      if (way.way != program_way && !way.device_ms.empty() && std::ranges::find(names, way.way) == names.end())
        names.push_back(way.way);
  return names;
}

std::optional<double> median_ms(const BenchRow& row, const std::string& way) {
  const WayTimes* times = row.find(way);
  return times ? std::optional(median(times->device_ms)) : std::nullopt;
}

std::optional<std::string> best_baseline(const BenchRow& row) {
  std::optional<std::string> best;
  double best_ms = 0.0;
  for (const WayTimes& way : row.ways) {
    if (way.way == program_way || way.device_ms.empty()) continue;
    const double ms = median(way.device_ms);
    if (best && ms >= best_ms) continue;
    best = way.way;
    best_ms = ms;
  }
  return best;
}

std::optional<TimingSummary> speedup_of(const BenchRow& row, const std::string& against) {
  const std::vector<TimedPair> pairs = pairs_against(row, against);
  if (pairs.empty()) return std::nullopt;
  return summarize(consecutive_buckets(pairs), TimingProtocol::standard);
}

std::optional<Interval> cautious_interval(const BenchRow& row, const std::string& against) {
  constexpr double normal_deviations = 3.291;   // 99.9% of a normal distribution
  constexpr double student_over_normal = 2.44;  // 5.959 for seven buckets, over the 2.447 of the 95% interval
  const std::vector<TimedPair> pairs = pairs_against(row, against);
  if (pairs.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (const TimedPair& pair : pairs) ratios.push_back(pair.ratio());
  const TimingSummary summary = summarize(consecutive_buckets(pairs), TimingProtocol::standard);
  const Interval within = widened(ratios, normal_deviations);
  return Interval{std::min(within.low, summary.speedup - student_over_normal * (summary.speedup - summary.low)),
                  std::max(within.high, summary.speedup + student_over_normal * (summary.high - summary.speedup))};
}

}  // namespace cudal1
