#include "judge/timing_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

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

std::vector<double> ratios_of(const std::vector<TimedPair>& pairs) {
  std::vector<double> ratios;
  for (const TimedPair& pair : pairs) ratios.push_back(pair.ratio());
  return ratios;
}

//! 0.975 quantile of Student's t by degrees of freedom.
double student_t(std::size_t freedom) {
  constexpr double quantiles[] = {0.0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447};
  return freedom < std::size(quantiles) ? quantiles[freedom] : 1.96;
}

//! Half the 95% interval of the mean of these values.
double half_interval(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const double freedom = static_cast<double>(values.size() - 1);
  return student_t(values.size() - 1) * std::sqrt(variance(values) / freedom);
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double pseudo_median(const std::vector<double>& values) {
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i; j < values.size(); ++j) means.push_back(0.5 * (values[i] + values[j]));
  return median(std::move(means));
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

Buckets consecutive_buckets(const std::vector<TimedPair>& pairs) {
  Buckets buckets(bucket_count);
  for (std::size_t i = 0; i < pairs.size(); ++i) buckets[i * bucket_count / pairs.size()].push_back(pairs[i]);
  return buckets;
}

TimingSummary summarize(const Buckets& buckets, TimingProtocol protocol) {
  const bool as_published = protocol == TimingProtocol::paper;
  std::vector<double> ratios, reference, candidate;
  TimingSummary summary;
  for (const auto& bucket : buckets) {
    if (bucket.empty()) continue;
    const std::vector<double> members = ratios_of(bucket);
    summary.bucket_values.push_back(as_published ? mean(members) : median(members));
    ratios.insert(ratios.end(), members.begin(), members.end());
    for (const TimedPair& pair : bucket) {
      reference.push_back(pair.reference_ms);
      candidate.push_back(pair.candidate_ms);
    }
  }
  summary.pairs = static_cast<int>(ratios.size());
  summary.speedup = as_published ? median(summary.bucket_values) : pseudo_median(summary.bucket_values);
  const double center = mean(summary.bucket_values);
  summary.bucket_variance = variance(summary.bucket_values);
  if (!as_published) summary.bucket_variance /= center * center;
  summary.stable = summary.bucket_variance <= largest_bucket_variance;
  const Interval within = median_interval(ratios);
  const double between = half_interval(summary.bucket_values);
  summary.low = std::max(0.0, std::min(within.low, summary.speedup - between));
  summary.high = std::max(within.high, summary.speedup + between);
  summary.reference_ms = median(reference);
  summary.candidate_ms = median(candidate);
  summary.tie = summary.low <= 1.01 && summary.high >= 0.99;
  return summary;
}

double reward_of(const TimingSummary& summary, TimingProtocol protocol) {
  return protocol == TimingProtocol::standard && summary.tie ? 1.0 : round_toward_one(summary.speedup);
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
