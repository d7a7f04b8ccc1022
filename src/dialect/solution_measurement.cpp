#include "dialect/solution_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/seconds_since.hpp"
#include "base/value_or_throw.hpp"
#include "judge/short_cut.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t derived_share = 4;  // of so many pairs one is on derived inputs
constexpr std::uint64_t oracle_looks = 16;
constexpr std::size_t fewest_in_bucket = 3;
// What two clocks may disagree by where nothing is wrong: a wake-up, a copy that is slower for its strides.
constexpr double quiet_ms = 0.01, loud_ms = 0.03, loud_share = 0.2;
constexpr double certain_share = 0.1;
constexpr double stream_tail_ms = 0.01, stream_tail_factor = 3.0;
// Of the times that two clocks differ by, the quarter that nothing disturbed.
constexpr double calm_quantile = 0.25;
// Who is accused waits longer even where chance favours it so much on both sides.
constexpr double accused_deviations = 3.0;

struct Sample {
  SolutionTimes reference, solution;
  bool derived = false;
  int bucket = 0;
};

double quantile(std::vector<double> values, double share) {
  const auto place = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

std::vector<double> differences(const std::vector<double>& larger, const std::vector<double>& smaller) {
  std::vector<double> result;
  for (std::size_t i = 0; i < larger.size(); ++i) result.push_back(larger[i] - smaller[i]);
  return result;
}

//! How much longer the judge waited, in those calls that are said to have been quick: they make the result, so a
//! solution that tells the truth now and then gains nothing by it.
std::vector<double> gaps_of_quick_calls(const ClockReadings& readings) {
  const double limit = median(readings.device_ms);
  std::vector<double> gaps;
  for (std::size_t i = 0; i < readings.device_ms.size(); ++i)
    if (readings.device_ms[i] <= limit) gaps.push_back(readings.total_ms[i] - readings.device_ms[i]);
  return gaps;
}

//! The calm quantile, or so many standard deviations above or below it, by order statistics.
double calm_gap(const std::vector<double>& gaps, double deviations = 0.0) {
  const double deviation = std::sqrt(calm_quantile * (1.0 - calm_quantile) / static_cast<double>(gaps.size()));
  return quantile(gaps, calm_quantile + deviations * deviation);
}

//! Half the 95% interval of the calm quantile.
double noise_of(const std::vector<double>& gaps) { return 0.5 * (calm_gap(gaps, 1.96) - calm_gap(gaps, -1.96)); }

class SolutionCampaign {
 public:
  SolutionCampaign(const SolutionContext& context, SolutionSession& reference, SolutionSession& solution,
                   const Verification& verified, const MeasurementOptions& options, const SolutionLimits& limits,
                   Random& random)
      : context_(context),
        reference_(reference),
        solution_(solution),
        verified_(verified),
        options_(options),
        limits_(limits),
        random_(random) {}

  Measurement run() {
    if (auto failure = prepare()) return {failure, errors_, {}, {}};
    const ProcessCount warm = solution_.watch().count();
    begin_ = Clock::now();
    do {
      for (int bucket = 0; bucket < bucket_count; ++bucket)
        if (auto failure = collect_block(bucket)) return {failure, errors_, {}, {}};
    } while (!enough());
    if (auto changed = solution_.find_changed_weight()) return {changed, {}, {}, {}};
    if (auto background = find_background_work(solution_.watch(), warm)) return {background, {}, {}, {}};
    const ClockVerdict clocks = clock_verdict();
    if (clocks.failure) return {clocks.failure, {}, {}, {}};
    charged_ms_ = clocks.charged_ms;
    Measurement measurement;
    measurement.summary = summary();
    for (const auto& bucket : buckets())
      measurement.pairs.insert(measurement.pairs.end(), bucket.begin(), bucket.end());
    return measurement;
  }

 private:
  std::optional<Failure> prepare() {
    value_or_throw(reference_.set_constants(verified_.constants), "the reference failed");
    if (const auto written = solution_.set_constants(verified_.constants); !written) return written.failure();
    for (int i = 0; i < 2; ++i) {  // first calls pay for things later ones do not
      Sample ignored;
      if (auto failure = time_pair(Distribution::native, ignored)) return failure;
    }
    return std::nullopt;
  }

  std::optional<Failure> collect_block(int bucket) {
    const int pairs = std::max(static_cast<int>(fewest_in_bucket), options_.pairs_a_round / bucket_count);
    for (int i = 0; i < pairs; ++i) {
      if (i >= static_cast<int>(fewest_in_bucket) && seconds() >= options_.longest_seconds) break;
      Sample sample;
      sample.bucket = bucket;
      const Distribution distribution = choose_distribution();
      sample.derived = distribution != Distribution::native;
      if (auto failure = time_pair(distribution, sample)) return failure;
      samples_.push_back(sample);
    }
    return std::nullopt;
  }

  Distribution choose_distribution() {
    const auto& all = context_.distributions;
    if (all.size() < 2 || random_.below(derived_share) != 0) return Distribution::native;
    return all[1 + random_.below(all.size() - 1)];
  }

  std::optional<Failure> time_pair(Distribution distribution, Sample& sample) {
    const TensorTable leaves = context_.with_inputs(verified_.constants, distribution, random_.next());
    const bool reference_first = random_.below(2) == 0;
    if (reference_first) sample.reference = time_reference(leaves);
    const auto called = solution_.call(leaves, limits_);
    if (!called) return called.failure();
    sample.solution = called.value();
    if (!reference_first) sample.reference = time_reference(leaves);
    return check(leaves, distribution);
  }

  SolutionTimes time_reference(const TensorTable& leaves) {
    SolutionLimits patient = limits_;
    patient.call = std::max(patient.call, std::chrono::milliseconds(60'000));
    return value_or_throw(reference_.call(leaves, patient), context_.task.task.name + ": the reference failed");
  }

  //! A sufficient test: the reference has just computed the same inputs in its own process.
  bool looks_right(Distribution distribution) const {
    const auto budgets = verified_.budgets.find(distribution);
    if (budgets == verified_.budgets.end()) return false;
    const auto expected = reference_.results(), given = solution_.results();
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!surely_close(given[i], expected[i], budgets->second[i])) return false;
    return true;
  }

  std::optional<Failure> check(const TensorTable& leaves, Distribution distribution) {
    if (random_.below(oracle_looks) == 0 || !looks_right(distribution)) {
      Verification closer;
      const Expected exact = context_.rule.expect(leaves, distribution, random_.next());
      if (auto failure = check_results(context_.rule, solution_.results(), exact, distribution, closer)) {
        failure->status = Status::wrong_when_timed;
        failure->message = "in a timed call: " + failure->message;
        errors_ = closer.worst;
        return failure;
      }
    }
    return solution_.violation();
  }

  ClockReadings readings(SolutionTimes Sample::*side) const {
    ClockReadings made;
    for (const Sample& sample : samples_) {
      made.device_ms.push_back((sample.*side).device_ms);
      made.joined_ms.push_back((sample.*side).joined_ms);
      made.total_ms.push_back((sample.*side).total_ms);
    }
    return made;
  }

  ClockVerdict clock_verdict() const {
    return compare_clocks(readings(&Sample::reference), readings(&Sample::solution));
  }

  TimedPair pair_of(const Sample& sample) const {
    return {sample.reference.device_ms, sample.solution.device_ms + charged_ms_};
  }

  ShortCut short_cut() const {
    std::vector<double> native, derived;
    for (const Sample& sample : samples_) (sample.derived ? derived : native).push_back(pair_of(sample).ratio());
    return short_cut_in(native, derived);
  }

  Buckets buckets() const {
    const bool derived_only = short_cut() != ShortCut::none;
    Buckets made(bucket_count);
    for (const Sample& sample : samples_)
      if (sample.derived || !derived_only) made[static_cast<std::size_t>(sample.bucket)].push_back(pair_of(sample));
    return made;
  }

  bool enough() const {
    if (static_cast<int>(samples_.size()) >= options_.most_pairs || seconds() >= options_.longest_seconds) return true;
    if (short_cut() == ShortCut::suspected || !clock_verdict().certain) return false;
    std::vector<double> ratios;
    for (const auto& bucket : buckets())
      for (const TimedPair& pair : bucket) ratios.push_back(pair.ratio());
    return !ratios.empty() && median_interval(ratios).relative_half_width() <= options_.wanted_half_width;
  }

  TimingSummary summary() const {
    TimingSummary made = summarize(buckets(), options_.protocol);
    made.reference_device_ms = made.reference_ms;
    made.candidate_device_ms = made.candidate_ms;
    return made;
  }

  double seconds() const { return seconds_since(begin_); }

  const SolutionContext& context_;
  SolutionSession &reference_, &solution_;
  const Verification& verified_;
  const MeasurementOptions& options_;
  const SolutionLimits& limits_;
  Random& random_;
  std::vector<Sample> samples_;
  std::vector<OutputError> errors_;
  double charged_ms_ = 0.0;
  Clock::time_point begin_;
};

}  // namespace

ClockVerdict compare_clocks(const ClockReadings& reference, const ClockReadings& solution) {
  const double took = median(solution.device_ms);
  const double reference_tail = median(differences(reference.joined_ms, reference.device_ms));
  const double tail = median(differences(solution.joined_ms, solution.device_ms));
  if (tail > stream_tail_factor * reference_tail + stream_tail_ms)
    return {
        Failure{Status::clock_mismatch,
                fmt::format("work goes on for {:.4f} ms after the call has returned, on streams of its own", tail)}};
  ClockVerdict verdict;
  const std::vector<double> reference_gaps = gaps_of_quick_calls(reference), gaps = gaps_of_quick_calls(solution);
  // The noise is the reference's alone: a solution must not buy itself room by being restless.
  verdict.noise_ms = noise_of(reference_gaps);
  const double hidden = calm_gap(gaps) - calm_gap(reference_gaps);
  const double surely_hidden = calm_gap(gaps, -accused_deviations) - calm_gap(reference_gaps, accused_deviations);
  const double allowed = std::max(loud_ms, loud_share * took);
  verdict.certain = verdict.noise_ms <= std::max(quiet_ms, certain_share * took);
  verdict.charged_ms = std::max(0.0, hidden - quiet_ms - verdict.noise_ms);
  const bool suspected = hidden > allowed + 2.0 * verdict.noise_ms;
  if (suspected && surely_hidden > allowed)
    verdict.failure = Failure{
        Status::clock_mismatch,
        fmt::format("the solution's clock says {:.4f} ms, but the judge waits {:.4f} ms longer than for the reference",
                    took, hidden)};
  else if (suspected || verdict.noise_ms > allowed)
    verdict.failure =
        Failure{Status::unstable,
                fmt::format("the machine is too busy to check the solution's clock: {:.4f} ms, give or take {:.4f} ms",
                            took, std::max(verdict.noise_ms, suspected ? hidden - surely_hidden : 0.0))};
  verdict.certain = verdict.certain && !verdict.failure;
  return verdict;
}

Measurement measure_solution(const SolutionContext& context, SolutionSession& reference, SolutionSession& solution,
                             const Verification& verified, const MeasurementOptions& options,
                             const SolutionLimits& limits, Random& random) {
  return SolutionCampaign(context, reference, solution, verified, options, limits, random).run();
}

}  // namespace cudal1
