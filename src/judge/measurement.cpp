#include "judge/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "judge/pair_timer.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

// A block whose core is disturbed again and again goes on to the next core, and gives up after so many times the pairs
// it wants.
constexpr int patience = 4, most_tries = 6;
constexpr std::size_t fewest_in_bucket = 3;
// So much slower on derived inputs, for sure and not by chance, is a program that takes a short cut on the usual ones.
constexpr double short_cut_limit = 0.9;
constexpr std::size_t fewest_derived_pairs = 5;

struct CorrectedPair {
  TimedPair pair;
  double disturbance = 1.0;
  bool on_derived_inputs = false;
};

struct Sample {
  PairTimes times;
  int bucket = 0;
};

//! The pairs of one measurement: taken in blocks, one a bucket, each block with other processes and on another core.
class Campaign {
 public:
  Campaign(TaskContext& context, PlanSession& candidate, const Verification& verified,
           const MeasurementOptions& options, const std::vector<int>& cores, Random& random)
      : context_(context),
        candidate_(candidate),
        options_(options),
        cores_(cores),
        timer_(context, candidate, verified, options, random),
        next_core_(cores.empty() ? 0 : random.below(cores.size())) {}

  Measurement run() {
    const auto failure = options_.protocol == TimingProtocol::paper ? collect_for_the_window() : collect();
    if (failure) return {failure, timer_.errors(), {}};
    if (auto changed = timer_.check_constants()) return {changed, {}, {}};
    if (auto mismatch = compare_clocks()) return {mismatch, {}, {}};
    Measurement measurement;
    measurement.summary = summarize(options_.protocol == TimingProtocol::paper ? plain_buckets() : corrected_buckets(),
                                    options_.protocol);
    measurement.summary.disturbed_pairs = static_cast<int>(samples_.size()) - measurement.summary.pairs;
    measurement.summary.processes = candidate_.processes();
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
    take_next_core();
    const bool other_processes = candidate_.processes() > 1 || samples_.empty();
    if (auto failure = other_processes ? enter(bucket) : warm_up()) return failure;
    const int wanted = pairs_a_block();
    int calm = 0, disturbed_in_a_row = 0;
    for (int tries = 0; calm < wanted && tries < most_tries * wanted; ++tries) {
      if (tries >= static_cast<int>(fewest_in_bucket) && seconds() >= options_.longest_seconds) break;
      if (auto failure = add_pair(bucket)) return failure;
      if (is_calm(samples_.back())) {
        ++calm;
        disturbed_in_a_row = 0;
      } else if (++disturbed_in_a_row >= patience && cores_.size() > 1) {
        take_next_core();
        if (auto failure = warm_up()) return failure;
        disturbed_in_a_row = 0;
      }
    }
    return std::nullopt;
  }

  //! Buckets differ in both processes, and the second time round in how they are paired.
  std::optional<Failure> enter(int bucket) {
    if (auto failure = timer_.use_processes(bucket, bucket + bucket / candidate_.processes())) return failure;
    return warm_up();
  }

  void take_next_core() {
    if (cores_.empty()) return;
    timer_.use_core(cores_[next_core_]);
    next_core_ = (next_core_ + 1) % cores_.size();
  }

  //! First calls after new weights, or on another core, pay for things later ones do not.
  std::optional<Failure> warm_up() {
    PairTimes ignored;
    return timer_.time_pair(ignored);
  }

  std::optional<Failure> add_pair(int bucket) {
    Sample sample{{}, bucket};
    if (auto failure = timer_.time_pair(sample.times)) return failure;
    context_.reference_host().add(sample.times.reference);
    candidate_host_.add(sample.times.candidate);
    samples_.push_back(sample);
    return std::nullopt;
  }

  bool is_calm(const Sample& sample) const {
    return disturbance(sample.times.reference, context_.reference_host().floor()) <= calm_limit &&
           disturbance(sample.times.candidate, candidate_host_.floor()) <= calm_limit;
  }

  int pairs_a_block() const { return std::max(1, options_.pairs_a_round / bucket_count); }

  //! The pairs of a bucket at the speed of the undisturbed host, the least disturbed first.
  std::vector<CorrectedPair> corrected_pairs(int bucket) const {
    std::vector<CallTimes> reference, candidate;
    std::vector<CorrectedPair> pairs;
    for (const Sample& sample : samples_) {
      if (sample.bucket != bucket) continue;
      reference.push_back(sample.times.reference);
      candidate.push_back(sample.times.candidate);
      pairs.push_back({{}, 1.0, sample.times.on_derived_inputs});
    }
    // The reference is known from longer ago, and from calmer moments perhaps. Both must be corrected to the same speed
    // of the host, so the candidate's floor is taken relative to the reference's.
    const double reference_floor = context_.reference_host().floor();
    const double candidate_floor = host_ratio(reference, candidate) * reference_floor;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      pairs[i].pair = {context_.reference_host().undisturbed_ms(reference[i], reference_floor),
                       candidate_host_.undisturbed_ms(candidate[i], candidate_floor)};
      pairs[i].disturbance =
          std::max(disturbance(reference[i], reference_floor), disturbance(candidate[i], candidate_floor));
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const CorrectedPair& a, const CorrectedPair& b) { return a.disturbance < b.disturbance; });
    return pairs;
  }

  //! Of every bucket its calm pairs, or the least disturbed where there are too few.
  std::vector<std::vector<CorrectedPair>> chosen_pairs() const {
    const std::size_t least = std::max(fewest_in_bucket, static_cast<std::size_t>(pairs_a_block() / 3));
    std::vector<std::vector<CorrectedPair>> chosen;
    for (int bucket = 0; bucket < bucket_count; ++bucket) {
      std::vector<CorrectedPair>& pairs = chosen.emplace_back(corrected_pairs(bucket));
      std::size_t count = std::min(least, pairs.size());
      while (count < pairs.size() && pairs[count].disturbance <= calm_limit) ++count;
      pairs.resize(count);
    }
    return chosen;
  }

  Buckets corrected_buckets() const {
    const auto chosen = chosen_pairs();
    const bool derived_only = takes_a_short_cut(chosen);
    Buckets buckets;
    for (const auto& pairs : chosen) {
      std::vector<TimedPair>& bucket = buckets.emplace_back();
      for (const CorrectedPair& pair : pairs)
        if (pair.on_derived_inputs || !derived_only) bucket.push_back(pair.pair);
    }
    return buckets;
  }

  static bool takes_a_short_cut(const std::vector<std::vector<CorrectedPair>>& chosen) {
    std::vector<double> native, derived;
    for (const auto& pairs : chosen)
      for (const CorrectedPair& pair : pairs) (pair.on_derived_inputs ? derived : native).push_back(pair.pair.ratio());
    if (derived.size() < fewest_derived_pairs || native.empty()) return false;
    return median_interval(derived).high < short_cut_limit * median(native);
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
    std::vector<double> ratios;
    for (const auto& bucket : corrected_buckets())
      for (const TimedPair& pair : bucket) ratios.push_back(pair.ratio());
    return median_interval(ratios).relative_half_width() <= options_.wanted_half_width;
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

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  TaskContext& context_;
  PlanSession& candidate_;
  const MeasurementOptions& options_;
  const std::vector<int>& cores_;
  PairTimer timer_;
  std::size_t next_core_;
  HostInfluence candidate_host_;
  std::vector<Sample> samples_;
  Clock::time_point begin_;
};

}  // namespace

Measurement measure(TaskContext& context, PlanSession& candidate, const Verification& verified,
                    const MeasurementOptions& options, Random& random) {
  return Campaign(context, candidate, verified, options, context.timing_cores(), random).run();
}

}  // namespace cudal1
