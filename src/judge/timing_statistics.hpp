// From paired times to a speed-up and a reward. Pure functions; the paper's protocol and ours side by side.
#pragma once

#include <vector>

#include "judge/evaluation.hpp"

namespace cudal1 {

enum class TimingProtocol {
  standard,  //!< buckets of medians, their pseudo-median, variance relative to the squared mean
  paper,     //!< as published: buckets of means, their median, absolute variance
};

//! One reference call and one candidate call on the same inputs.
struct TimedPair {
  double reference_ms = 0.0;
  double candidate_ms = 0.0;
  double ratio() const { return reference_ms / candidate_ms; }
};

inline constexpr int bucket_count = 7;
//! What has not settled after so many is unstable.
inline constexpr int most_measurements = 3;
inline constexpr double largest_bucket_variance = 0.005;

double median(std::vector<double> values);

//! The median of the means of all pairs (Hodges and Lehmann): of seven values two may be anything, as good as a median
//! needs here, but it scatters less where they are merely noisy.
double pseudo_median(const std::vector<double>& values);

struct Interval {
  double low = 0.0, high = 0.0;
  double relative_half_width() const { return high > 0.0 ? (high - low) / (high + low) : 0.0; }
};

//! The 95% interval of the median by order statistics (no assumption on the distribution).
Interval median_interval(std::vector<double> values);

using Buckets = std::vector<std::vector<TimedPair>>;

//! Seven consecutive stretches, as equal as can be.
Buckets consecutive_buckets(const std::vector<TimedPair>& pairs);

//! Empty buckets do not count. The interval has to hold twice: for the median of all ratios, and for what differs from
//! bucket to bucket, which more pairs do not make smaller.
TimingSummary summarize(const Buckets& buckets, TimingProtocol protocol);

//! Two decimals, toward 1: 1.118 -> 1.11, 0.992 -> 1.00.
double round_toward_one(double speedup);

//! What a measurement is worth: the rounded speed-up, and 1 for a tie, since noise is no merit. The paper's protocol
//! knows no ties.
double reward_of(const TimingSummary& summary, TimingProtocol protocol);

//! Must this result be measured again in a fresh process?
bool needs_confirmation(double speedup, double best_known);

//! Do two measurements of the same thing agree to 10%?
bool confirms(double first, double second);

}  // namespace cudal1
