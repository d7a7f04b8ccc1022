#include "judge/timing_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cudal1 {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(const std::vector<double>& values) {
  const double center = mean(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - center) * (value - center);
  return sum / static_cast<double>(values.size());
}

std::vector<double> bucket_values(const std::vector<double>& ratios, TimingProtocol protocol) {
  std::vector<double> values;
  for (int bucket = 0; bucket < bucket_count; ++bucket) {
    const auto begin = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() * bucket / bucket_count);
    const auto end = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() * (bucket + 1) / bucket_count);
    if (begin == end) continue;
    const std::vector<double> members(begin, end);
    values.push_back(protocol == TimingProtocol::paper ? mean(members) : median(members));
  }
  return values;
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

Interval median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  // Ranks of the binomial(n, 1/2) distribution's central 95%, normal approximation.
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::ptrdiff_t>(std::floor(std::max(0.0, 0.5 * n - reach)));
  const auto high = static_cast<std::ptrdiff_t>(std::ceil(std::min(n - 1.0, 0.5 * n + reach)));
  return {values[static_cast<std::size_t>(low)], values[static_cast<std::size_t>(high)]};
}

TimingSummary summarize(const std::vector<TimedPair>& pairs, TimingProtocol protocol) {
  std::vector<double> ratios, reference, candidate;
  for (const TimedPair& pair : pairs) {
    ratios.push_back(pair.ratio());
    reference.push_back(pair.reference_ms);
    candidate.push_back(pair.candidate_ms);
  }
  TimingSummary summary;
  summary.pairs = static_cast<int>(pairs.size());
  summary.bucket_values = bucket_values(ratios, protocol);
  summary.speedup = median(summary.bucket_values);
  const double center = mean(summary.bucket_values);
  summary.bucket_variance = variance(summary.bucket_values);
  if (protocol == TimingProtocol::standard) summary.bucket_variance /= center * center;
  summary.stable = summary.bucket_variance <= largest_bucket_variance;
  const Interval interval = median_interval(ratios);
  summary.low = std::min(interval.low, summary.speedup);
  summary.high = std::max(interval.high, summary.speedup);
  summary.reference_ms = median(reference);
  summary.candidate_ms = median(candidate);
  summary.tie = summary.low <= 1.01 && summary.high >= 0.99;
  return summary;
}

double round_toward_one(double speedup) {
  // The small term keeps 1.10 from becoming 1.09 through binary fractions.
  const double hundredths = speedup * 100.0;
  const double rounded = speedup >= 1.0 ? std::floor(hundredths + 1e-9) : std::ceil(hundredths - 1e-9);
  return rounded / 100.0;
}

bool needs_confirmation(double speedup, double best_known) {
  return speedup > 3.0 || (best_known > 0.0 && speedup > 2.0 * best_known);
}

bool confirms(double first, double second) { return std::abs(first - second) <= 0.10 * first; }

}  // namespace cudal1
