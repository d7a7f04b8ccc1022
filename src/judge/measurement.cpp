#include "judge/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/seconds_since.hpp"
#include "judge/nominal_host.hpp"
#include "judge/pair_timer.hpp"
#include "judge/short_cut.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

// Calls whose gate expired are made again, up to so many times the pairs a block wants.
constexpr int most_tries = 3;
constexpr std::size_t fewest_in_bucket = 3;
// Who recognises the usual inputs shows it on others: so many are looked at, but for calls that take very long.
constexpr std::ptrdiff_t fewest_derived_pairs = 3;
constexpr double seconds_for_derived_pairs = 1.0;

struct CostedPair {
  TimedPair pair;
  bool on_derived_inputs = false;
};

struct Sample {
  PairTimes times;
  int bucket = 0;
};

//! The pairs of one measurement: taken in blocks, one a bucket, each block with other processes.
class Campaign {
 public:
  Campaign(TaskContext& context, PlanSession& candidate, const Verification& verified,
           const MeasurementOptions& options, Random& random)
      : context_(context),
        candidate_(candidate),
        options_(options),
        timer_(context, candidate, verified, options, random),
        reference_enqueue_ms_(nominal_enqueue_ms(context.empty_plan())),
        candidate_enqueue_ms_(nominal_enqueue_ms(candidate.plan())),
        holding_(options.protocol == TimingProtocol::standard) {  // the published protocol has events and nothing else
    timer_.hold_device(holding_);
  }

  Measurement run() {
    const auto failure = options_.protocol == TimingProtocol::paper ? collect_for_the_window() : collect();
    if (failure) return {failure, timer_.errors(), {}};
    if (auto changed = timer_.check_constants()) return {changed, {}, {}};
    if (samples_.empty()) return {Failure{Status::judge_error, "no pair of calls could be timed"}, {}, {}};
    if (auto mismatch = compare_clocks()) return {mismatch, {}, {}};
    Measurement measurement;
    measurement.summary = summary();
    measurement.summary.dropped_pairs = dropped_pairs_;
    measurement.summary.processes = candidate_.processes();
    measurement.unseen = timer_.take_unseen();
    return measurement;
  }

 private:
  //! The published way: one process, every pair counts, until the window is over.
  std::optional<Failure> collect_for_the_window() {
    if (auto failure = enter(0)) return failure;
    begin_ = Clock::now();
    while (seconds() < options_.paper_window_seconds || samples_.size() < static_cast<std::size_t>(bucket_count))
      if (auto failure = add_pair(0)) return failure;
    return std::nullopt;
  }

  std::optional<Failure> collect() {
    begin_ = Clock::now();
    do {
      for (int bucket = 0; bucket < bucket_count; ++bucket)
        if (auto failure = collect_block(bucket)) return failure;
    } while (!enough());
    return std::nullopt;
  }

  std::optional<Failure> collect_block(int bucket) {
    const bool several_processes = candidate_.processes() > 1 || context_.reference().processes() > 1;
    if (several_processes || samples_.empty())
      if (auto failure = enter(bucket)) return failure;
    const std::size_t before = samples_.size(), enough = before + static_cast<std::size_t>(pairs_a_block());
    for (int tries = 0; samples_.size() < enough && tries < most_tries * pairs_a_block(); ++tries) {
      if (samples_.size() >= before + fewest_in_bucket && seconds() >= options_.longest_seconds) break;
      if (auto failure = add_pair(bucket)) return failure;
    }
    return std::nullopt;
  }

  //! Buckets differ in both processes, and the second time round in how they are paired.
  int reference_process(int bucket) const { return bucket % context_.reference().processes(); }
  int candidate_process(int bucket) const {
    return (bucket + bucket / candidate_.processes()) % candidate_.processes();
  }

  std::optional<Failure> enter(int bucket) {
    if (auto failure = timer_.use_processes(reference_process(bucket), candidate_process(bucket))) return failure;
    return warm_up();
  }

  //! First calls after new weights pay for things later ones do not.
  std::optional<Failure> warm_up() {
    PairTimes ignored;
    return timer_.time_pair_on(Distribution::native, ignored);
  }

  std::optional<Failure> add_pair(int bucket) {
    Sample sample{{}, bucket};
    if (auto failure = timer_.time_pair(sample.times)) return failure;
    if (holding_ && (sample.times.reference.gate == Gate::unused || sample.times.candidate.gate == Gate::unused)) {
      stop_holding();
      return std::nullopt;
    }
    if (sample.times.reference.gate == Gate::expired || sample.times.candidate.gate == Gate::expired) {
      ++dropped_pairs_;
      return std::nullopt;
    }
    samples_.push_back(sample);
    return std::nullopt;
  }

  //! One of the two cannot be held back. A time with the host in it and one without must not be compared, so from now
  //! on both are timed with it, and what was measured so far does not count.
  void stop_holding() {
    timer_.hold_device(false);
    holding_ = false;
    samples_.clear();
  }

  int pairs_a_block() const { return std::max(1, options_.pairs_a_round / bucket_count); }

  using CostedPairs = std::vector<std::vector<CostedPair>>;  // by bucket

  CostedPairs costed_pairs() const {
    CostedPairs pairs(bucket_count);
    for (const Sample& sample : samples_)
      pairs[static_cast<std::size_t>(sample.bucket)].push_back(
          {{cost_ms(sample.times.reference, reference_enqueue_ms_),
            cost_ms(sample.times.candidate, candidate_enqueue_ms_)},
           sample.times.on_derived_inputs});
    return pairs;
  }

  static Buckets buckets_of(const CostedPairs& costed, ShortCut short_cut) {
    const bool derived_only = short_cut != ShortCut::none;
    Buckets buckets;
    for (const auto& pairs : costed) {
      std::vector<TimedPair>& bucket = buckets.emplace_back();
      for (const CostedPair& pair : pairs)
        if (pair.on_derived_inputs || !derived_only) bucket.push_back(pair.pair);
    }
    return buckets;
  }

  static ShortCut short_cut_among(const CostedPairs& costed) {
    std::vector<double> native, derived;
    for (const auto& pairs : costed)
      for (const CostedPair& pair : pairs) (pair.on_derived_inputs ? derived : native).push_back(pair.pair.ratio());
    return short_cut_in(native, derived);
  }

  //! As published: every pair as it was measured.
  Buckets plain_buckets() const {
    std::vector<TimedPair> pairs;
    for (const Sample& sample : samples_)
      pairs.push_back({sample.times.reference.device_ms, sample.times.candidate.device_ms});
    return consecutive_buckets(pairs);
  }

  //! More pairs narrow what differs from pair to pair, not what differs from process to process.
  bool enough() const {
    if (static_cast<int>(samples_.size()) >= options_.most_pairs || seconds() >= options_.longest_seconds) return true;
    if (!has_seen_derived_inputs()) return false;
    const CostedPairs costed = costed_pairs();
    const ShortCut short_cut = short_cut_among(costed);
    if (short_cut == ShortCut::suspected) return false;
    std::vector<double> ratios;
    for (const auto& bucket : buckets_of(costed, short_cut)) {
      if (bucket.empty()) return false;
      for (const TimedPair& pair : bucket) ratios.push_back(pair.ratio());
    }
    return median_interval(ratios).relative_half_width() <= options_.wanted_half_width;
  }

  bool has_seen_derived_inputs() const {
    if (context_.distributions().size() < 2 || seconds() >= seconds_for_derived_pairs) return true;
    return std::ranges::count_if(samples_, [](const Sample& sample) { return sample.times.on_derived_inputs; }) >=
           fewest_derived_pairs;
  }

  Buckets costed_buckets() const {
    const CostedPairs costed = costed_pairs();
    return buckets_of(costed, short_cut_among(costed));
  }

  TimingSummary summary() const {
    const bool as_published = options_.protocol == TimingProtocol::paper;
    TimingSummary summary = summarize(as_published ? plain_buckets() : costed_buckets(), options_.protocol);
    std::vector<double> reference, candidate;
    for (const Sample& sample : samples_) {
      reference.push_back(sample.times.reference.device_ms);
      candidate.push_back(sample.times.candidate.device_ms);
    }
    summary.reference_device_ms = median(reference);
    summary.candidate_device_ms = median(candidate);
    summary.device_held = holding_;
    summary.reference_enqueue_ms = holding_ ? reference_enqueue_ms_ : 0.0;
    summary.candidate_enqueue_ms = holding_ ? candidate_enqueue_ms_ : 0.0;
    return summary;
  }

  //! The host clock waits for the whole device; events that stop long before it hide work.
  std::optional<Failure> compare_clocks() const {
    std::vector<double> reference_gap, candidate_gap, candidate_ms;
    for (const Sample& sample : samples_) {
      reference_gap.push_back(sample.times.reference.host_ms - sample.times.reference.device_ms);
      candidate_gap.push_back(sample.times.candidate.host_ms - sample.times.candidate.device_ms);
      candidate_ms.push_back(sample.times.candidate.device_ms);
    }
    const double allowed = std::max(0.02, 0.2 * median(candidate_ms));
    const double hidden = median(candidate_gap) - std::max(0.0, median(reference_gap));
    if (hidden <= allowed && median(candidate_gap) >= -0.02) return std::nullopt;
    return Failure{
        Status::clock_mismatch,
        fmt::format("device events say {:.4f} ms, but the host waits {:.4f} ms longer than for the reference",
                    median(candidate_ms), hidden)};
  }

  double seconds() const { return seconds_since(begin_); }

  TaskContext& context_;
  PlanSession& candidate_;
  const MeasurementOptions& options_;
  PairTimer timer_;
  double reference_enqueue_ms_, candidate_enqueue_ms_;
  bool holding_;  // the device, until a call is enqueued
  std::vector<Sample> samples_;
  int dropped_pairs_ = 0;
  Clock::time_point begin_;
};

}  // namespace

Measurement measure(TaskContext& context, PlanSession& candidate, const Verification& verified,
                    const MeasurementOptions& options, Random& random) {
  return Campaign(context, candidate, verified, options, random).run();
}

namespace {

//! Inputs on which verification saw the candidate take so much longer that it must recognise the usual ones.
std::optional<Distribution> slow_distribution(const Verification& verified) {
  const auto native = verified.call_ms.find(Distribution::native);
  if (native == verified.call_ms.end()) return std::nullopt;
  const auto slowest = std::ranges::max_element(verified.call_ms, {}, [](const auto& entry) { return entry.second; });
  return native->second < short_cut_limit * slowest->second ? std::optional(slowest->first) : std::nullopt;
}

struct EnqueueTimes {
  double reference_ms, candidate_ms;
};

TimedPair costs_of(const PairTimes& times, const EnqueueTimes& enqueue) {
  return {cost_ms(times.reference, enqueue.reference_ms), cost_ms(times.candidate, enqueue.candidate_ms)};
}

}  // namespace

Measurement predict(TaskContext& context, PlanSession& candidate, const Verification& verified,
                    const MeasurementOptions& options, Random& random) {
  PairTimer timer(context, candidate, verified, options, random);
  const EnqueueTimes enqueue{nominal_enqueue_ms(context.empty_plan()), nominal_enqueue_ms(candidate.plan())};
  PairTimes times;
  if (auto failure = timer.use_processes(0, 0)) return {failure, {}, {}};
  if (auto failure = timer.time_pair_on(Distribution::native, times)) return {failure, timer.errors(), {}};
  if (const auto slow = slow_distribution(verified)) {
    PairTimes derived;
    if (auto failure = timer.time_pair_on(*slow, derived)) return {failure, timer.errors(), {}};
    if (costs_of(derived, enqueue).ratio() < costs_of(times, enqueue).ratio()) times = derived;
  }
  if (auto changed = timer.check_constants()) return {changed, {}, {}};
  TimingSummary summary = summarize({{costs_of(times, enqueue)}}, TimingProtocol::standard);
  summary.device_held = true;
  summary.reference_device_ms = times.reference.device_ms;
  summary.candidate_device_ms = times.candidate.device_ms;
  summary.reference_enqueue_ms = enqueue.reference_ms;
  summary.candidate_enqueue_ms = enqueue.candidate_ms;
  return {std::nullopt, {}, summary, times.candidate.profile};
}

namespace {

//! A disturbance of the machine can look like hidden work for once; who hides work does so whenever it pays.
bool is_in_doubt(Status status) { return status == Status::clock_mismatch || status == Status::unstable; }

//! What measurements say together that left doubts. Most of them must accuse, and none have found the clocks in order:
//! one accusation among measurements that could not tell is chance.
class Doubts {
 public:
  void add(const Measurement& measurement) {
    ++measurements_;
    if (!measurement.failure) {
      clocks_agreed_ = true;
      return;
    }
    last_ = *measurement.failure;
    if (last_.status != Status::clock_mismatch) return;
    ++accusations_;
    accusation_ = last_;
  }

  Failure verdict() const {
    if (!is_in_doubt(last_.status) || accusations_ == 0) return last_;
    if (!clocks_agreed_ && 2 * accusations_ > measurements_) return accusation_;
    return {Status::unstable, "clocks disagree in some measurements, but not in most: " + accusation_.message};
  }

 private:
  int measurements_ = 0, accusations_ = 0;
  bool clocks_agreed_ = false;
  Failure last_{}, accusation_{};
};

}  // namespace

std::optional<Failure> measure_until_stable(const std::function<Measurement()>& measure_once, TimingProtocol protocol,
                                            Evaluation& evaluation) {
  const bool as_published = protocol == TimingProtocol::paper;
  const int most = as_published ? 1 : most_measurements;
  TimingSummary summary;
  Doubts doubts;
  for (int attempt = 1; attempt <= most; ++attempt) {
    const Measurement measurement = measure_once();
    doubts.add(measurement);
    if (measurement.failure && is_in_doubt(measurement.failure->status) && attempt < most) continue;
    if (measurement.failure) return doubts.verdict();
    summary = measurement.summary;
    if (summary.stable) break;
  }
  evaluation.timing = summary;
  if (summary.stable) return std::nullopt;
  return Failure{Status::unstable,
                 fmt::format("the timing does not settle: variance between buckets {:.4f}", summary.bucket_variance)};
}

}  // namespace cudal1
