#include "judge/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

// One timed call in seven is on a derived distribution, so that a program which recognises the usual inputs does not
// look fast on them alone.
constexpr std::uint64_t derived_share = 7;
// One call in so many is looked at more closely.
constexpr std::uint64_t memory_looks = 4, constant_looks = 8, oracle_looks = 16;
constexpr std::chrono::milliseconds reference_limit{60000};

struct Sample {
  TimedPair pair;
  double reference_host_ms = 0.0, candidate_host_ms = 0.0;
};

class PairTimer {
 public:
  PairTimer(TaskContext& context, PlanSession& candidate, const Verification& verified,
            const MeasurementOptions& options, Random& random)
      : context_(context), candidate_(candidate), verified_(verified), options_(options), random_(random) {}

  std::optional<Failure> set_constants() {
    context_.set_reference_constants(verified_.constants);
    const auto placed = candidate_.set_constants(verified_.constants, options_.call_limit);
    if (!placed) return placed.failure();
    return std::nullopt;
  }

  std::optional<Failure> time_pair(Sample& sample) {
    const Distribution distribution = choose_distribution();
    const TensorTable leaves = context_.with_inputs(verified_.constants, distribution, random_.next());
    if (previous_leaves_.empty())
      previous_leaves_ = context_.with_inputs(verified_.constants, Distribution::native, random_.next());
    const bool reference_first = (random_.next() & 1) != 0;
    if (reference_first) time_reference(leaves, sample);
    if (auto failure = time_candidate(leaves, sample)) return failure;
    if (!reference_first) time_reference(leaves, sample);
    previous_leaves_ = leaves;
    return check_outputs(leaves, distribution);
  }

  //! Of the timed call whose results did not match, if there was one.
  const std::vector<OutputError>& errors() const { return errors_; }

  //! After the last pair: weights and prepared buffers are as they were.
  std::optional<Failure> check_constants() { return candidate_.find_violation(true); }

 private:
  Distribution choose_distribution() {
    const auto& all = context_.distributions();
    if (all.size() < 2 || random_.below(derived_share) != 0) return Distribution::native;
    return all[1 + random_.below(all.size() - 1)];
  }

  void time_reference(const TensorTable& leaves, Sample& sample) {
    must_run(context_.reference().rehearse(previous_leaves_, reference_limit));
    const auto times = context_.reference().call(leaves, Poison::not_a_number, reference_limit, true);
    must_run(times);
    sample.pair.reference_ms = times.value().device_ms;
    sample.reference_host_ms = times.value().host_ms;
  }

  template <class T>
  void must_run(const Result<T>& result) const {
    if (!result)
      throw Error(fmt::format("{}: the reference failed: {}", context_.task().name, result.failure().message));
  }

  std::optional<Failure> time_candidate(const TensorTable& leaves, Sample& sample) {
    const auto rehearsed = candidate_.rehearse(previous_leaves_, options_.call_limit);
    if (!rehearsed) return rehearsed.failure();
    // Whatever a rehearsal leaves for the timed call, in weights or prepared buffers, shows only between the two.
    if (random_.below(constant_looks) == 0)
      if (auto failure = candidate_.find_violation(true)) return failure;
    const auto times = candidate_.call(leaves, Poison::not_a_number, options_.call_limit, true);
    if (!times) return times.failure();
    sample.pair.candidate_ms = times.value().device_ms;
    sample.candidate_host_ms = times.value().host_ms;
    return std::nullopt;
  }

  //! A sufficient test: the reference has just computed the same inputs in its own process.
  bool looks_right(Distribution distribution) const {
    const auto budgets = verified_.budgets.find(distribution);
    if (budgets == verified_.budgets.end()) return false;
    const auto expected = results_in(context_, context_.reference()), given = results_in(context_, candidate_);
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!surely_close(given[i], expected[i], budgets->second[i])) return false;
    return true;
  }

  // What does not look right at once, and some calls at random, are compared with the oracle like any other.
  std::optional<Failure> check_outputs(const TensorTable& leaves, Distribution distribution) {
    if (random_.below(oracle_looks) == 0 || !looks_right(distribution)) {
      Verification closer_look;
      const Expected exact = context_.rule().expect(leaves, distribution, random_.next());
      if (auto failure = check_results(context_, candidate_, exact, distribution, closer_look)) {
        failure->status = Status::wrong_when_timed;
        failure->message = "in a timed call: " + failure->message;
        errors_ = closer_look.worst;
        return failure;
      }
    }
    // A call cannot know whether it is looked at, so a look at some is enough; outputs are compared in every one.
    return random_.below(memory_looks) == 0 ? candidate_.find_violation(false) : std::nullopt;
  }

  TaskContext& context_;
  PlanSession& candidate_;
  const Verification& verified_;
  const MeasurementOptions& options_;
  Random& random_;
  std::vector<OutputError> errors_;
  TensorTable previous_leaves_;  // inputs of the pair before: what rehearsals run on
};

//! The host clock waits for the whole device; events that stop long before it hide work.
std::optional<Failure> compare_clocks(const std::vector<Sample>& samples) {
  std::vector<double> reference_gap, candidate_gap, candidate_ms;
  for (const Sample& sample : samples) {
    reference_gap.push_back(sample.reference_host_ms - sample.pair.reference_ms);
    candidate_gap.push_back(sample.candidate_host_ms - sample.pair.candidate_ms);
    candidate_ms.push_back(sample.pair.candidate_ms);
  }
  const double allowed = std::max(0.05, 0.2 * median(candidate_ms));
  const double hidden = median(candidate_gap) - std::max(0.0, median(reference_gap));
  if (hidden <= allowed && median(candidate_gap) >= -0.02) return std::nullopt;
  return Failure{Status::clock_mismatch,
                 fmt::format("device events say {:.4f} ms, but the host waits {:.4f} ms longer than for the reference",
                             median(candidate_ms), hidden),
                 {},
                 {}};
}

bool enough(const std::vector<Sample>& samples, const std::vector<TimedPair>& pairs, const MeasurementOptions& options,
            double seconds) {
  if (options.protocol == TimingProtocol::paper)
    return seconds >= options.paper_window_seconds && pairs.size() >= bucket_count;
  if (static_cast<int>(samples.size()) < options.fewest_pairs) return false;
  if (static_cast<int>(samples.size()) >= options.most_pairs || seconds >= options.longest_seconds) return true;
  if (samples.size() % bucket_count != 0) return false;
  const TimingSummary summary = summarize(pairs, options.protocol);
  return Interval{summary.low, summary.high}.relative_half_width() <= options.wanted_half_width;
}

}  // namespace

Measurement measure(TaskContext& context, PlanSession& candidate, const Verification& verified,
                    const MeasurementOptions& options, Random& random) {
  Measurement measurement;
  PairTimer timer(context, candidate, verified, options, random);
  if ((measurement.failure = timer.set_constants())) return measurement;
  std::vector<Sample> samples;
  std::vector<TimedPair> pairs;
  Sample warm_up;  // first calls after new weights pay for things later ones do not
  const auto time_pair = [&](Sample& sample) {
    measurement.failure = timer.time_pair(sample);
    measurement.errors = timer.errors();
    return !measurement.failure;
  };
  if (!time_pair(warm_up)) return measurement;
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  while (!enough(samples, pairs, options, seconds())) {
    Sample sample;
    if (!time_pair(sample)) return measurement;
    samples.push_back(sample);
    pairs.push_back(sample.pair);
  }
  if ((measurement.failure = timer.check_constants())) return measurement;
  if ((measurement.failure = compare_clocks(samples))) return measurement;
  measurement.summary = summarize(pairs, options.protocol);
  return measurement;
}

}  // namespace cudal1
