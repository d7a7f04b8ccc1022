#include "report/speedups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace cudal1 {
namespace {

std::vector<TimedPair> pairs_of(const WayTimes& baseline, const WayTimes& program) {
  std::vector<TimedPair> pairs;
  const std::size_t rounds = std::min(baseline.device_ms.size(), program.device_ms.size());
  for (std::size_t i = 0; i < rounds; ++i) pairs.push_back({baseline.device_ms[i], program.device_ms[i]});
  return pairs;
}

std::vector<TimedPair> pairs_against(const BenchRow& row, const std::string& against) {
  const auto baseline = against == best_of_all ? best_baseline(row.ways) : std::optional(against);
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

//! 0.9995 quantile of Student's t by degrees of freedom.
double student_t(std::size_t freedom) {
  constexpr double quantiles[] = {0.0, 636.6, 31.60, 12.92, 8.610, 6.869, 5.959};
  return freedom < std::size(quantiles) ? quantiles[freedom] : quantiles[std::size(quantiles) - 1];
}

//! Half the 99.9% interval of the mean of what differs from bucket to bucket, as the judge takes its 95% one.
double half_interval_between(const std::vector<double>& buckets) {
  if (buckets.size() < 2) return 0.0;
  double mean = 0.0, squares = 0.0;
  const double count = static_cast<double>(buckets.size());
  for (const double value : buckets) mean += value / count;
  for (const double value : buckets) squares += (value - mean) * (value - mean);
  return student_t(buckets.size() - 1) * std::sqrt(squares / count / (count - 1.0));
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

std::optional<std::string> best_baseline(const std::vector<WayTimes>& ways) {
  std::optional<std::string> best;
  double best_ms = 0.0;
  for (const WayTimes& way : ways) {
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

std::string why_unstable(const std::vector<WayTimes>& ways) {
  BenchRow row;
  row.status = "ok";
  row.ways = ways;
  for (const std::string& against : {std::string("eager"), best_baseline(ways).value_or("eager")})
    if (const auto speedup = speedup_of(row, against); speedup && !speedup->stable)
      return fmt::format("the timing against {} does not settle: variance between buckets {:.4f}", against,
                         speedup->bucket_variance);
  return {};
}

std::optional<Interval> cautious_interval(const BenchRow& row, const std::string& against) {
  constexpr double normal_deviations = 3.291;  // 99.9% of a normal distribution
  const std::vector<TimedPair> pairs = pairs_against(row, against);
  if (pairs.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (const TimedPair& pair : pairs) ratios.push_back(pair.ratio());
  const TimingSummary summary = summarize(consecutive_buckets(pairs), TimingProtocol::standard);
  const Interval within = widened(ratios, normal_deviations);
  const double between = half_interval_between(summary.bucket_values);
  return Interval{std::max(0.0, std::min(within.low, summary.speedup - between)),
                  std::max(within.high, summary.speedup + between)};
}

}  // namespace cudal1
