#include "dialect/solution_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/hash.hpp"
#include "base/seconds_since.hpp"
#include "base/value_or_throw.hpp"
#include "dialect/markdown.hpp"
#include "dialect/solution_measurement.hpp"
#include "judge/gpu_lock.hpp"
#include "judge/judge_errors.hpp"
#include "judge/possible.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double reference_times_allowed = 1000.0, shortest_limit_ms = 1000.0;
constexpr int reference_calls = 5;
constexpr int closer_look = 3;  // at who was accused: so many times the calls and the seconds
constexpr SolutionLimits patient{std::chrono::milliseconds(600'000), std::chrono::milliseconds(120'000)};

PrecisionPolicy policy_of(Precision precision) {
  constexpr PrecisionPolicy policies[] = {PrecisionPolicy::standard, PrecisionPolicy::strict, PrecisionPolicy::tf32,
                                          PrecisionPolicy::paper};
  return policies[static_cast<int>(precision)];
}

}  // namespace

struct SolutionJudge::Impl {
  Impl(SolutionTask task, SolutionDevice device, const JudgeOptions& options_)
      : options(options_),
        seed(options_.seed != 0 ? options_.seed : secret_seed()),
        random(seed),
        lock(device.info.uuid),
        starting(std::make_unique<GpuLock::Guard>(lock.share())),
        context(std::move(task), std::move(device), policy_of(options.precision), random.next()),
        reference(context.task, context.device, {"Model", {}, context.task.module}, context.flags(), random.next()) {
    start_reference();
    time_reference();
    starting.reset();
  }

  std::string about_reference() const { return context.task.task.name + ": the reference does not run"; }

  void start_reference() { value_or_throw(reference.start(context.changing_weights, patient.load), about_reference()); }

  //! Roughly, for limits; also what an honest session looks like from outside.
  void time_reference() {
    const TensorTable constants = context.draw_constants(random.next(), false);
    value_or_throw(reference.set_constants(constants), about_reference());
    reference_ms = std::numeric_limits<double>::infinity();
    for (int i = 0; i < reference_calls; ++i) {
      const TensorTable leaves = context.with_inputs(constants, Distribution::native, random.next());
      reference_ms =
          std::min(reference_ms, value_or_throw(reference.call(leaves, patient), about_reference()).device_ms);
    }
    reference_processes = reference.watch().count().processes;
  }

  SolutionLimits limits() const {
    const double milliseconds = options.call_limit_seconds > 0.0
                                    ? options.call_limit_seconds * 1e3
                                    : std::max(shortest_limit_ms, reference_times_allowed * reference_ms);
    SolutionLimits result;
    result.call = std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
    return result;
  }

  MeasurementOptions measurement_options() const {
    MeasurementOptions result;
    result.protocol = options.protocol;
    result.pairs_a_round = 35;
    if (options.mode == JudgeMode::result) {
      result.wanted_half_width = 0.004;
      result.pairs_a_round = 140;
      result.most_pairs = 2800;
      result.longest_seconds = 20.0;
    }
    if (options.longest_measurement_seconds > 0.0) result.longest_seconds = options.longest_measurement_seconds;
    return result;
  }

  Evaluation blank(const std::string& name, const std::string& text) const {
    Evaluation evaluation;
    evaluation.dialect = "torch";
    evaluation.task = context.task.task.name;
    evaluation.program = name;
    evaluation.task_hash = context.task.task.hash;
    evaluation.program_hash = sha256_hex(text);
    evaluation.device = context.device.info.name;
    evaluation.target = context.device.info.target;
    evaluation.mode = to_string(options.mode);
    evaluation.timing_protocol = to_string(options.protocol);
    evaluation.precision = to_string(options.precision);
    evaluation.seed = seed;
    evaluation.degenerate_task = context.degenerate;
    return evaluation;
  }

  static void fail(Evaluation& evaluation, const Failure& failure) {
    evaluation.status = failure.status;
    evaluation.failure = failure;
  }

  //! What Python says of the first line of an answer helps nobody.
  static Failure explained(Failure failure, const std::string& text) {
    if (failure.status == Status::parse_error && has_fences(text))
      failure.message += " (lines with ``` are Markdown: the file must be the code alone, or one fenced block alone)";
    return failure;
  }

  Result<SolutionSession::Done> start(SolutionSession& session, Evaluation& evaluation) {
    const auto begin = Clock::now();
    auto started = session.start(context.changing_weights, limits().load);
    evaluation.compile_seconds = seconds_since(begin);
    return started;
  }

  void judge(const std::string& text, double best_known, Evaluation& evaluation) {
    SolutionSession session(context.task, context.device, {"ModelNew", text, {}}, context.flags(), random.next());
    Verification verified;
    {
      const auto guard = lock.share();
      if (!reference.alive()) start_reference();
      if (const auto started = start(session, evaluation); !started)
        return fail(evaluation, explained(started.failure(), text));
      SolutionVerificationOptions how{options.mode == JudgeMode::fast ? 2 : 3, options.demand_equal_bits, limits()};
      verified = verify_solution(context, session, how, reference_processes, random);
    }
    evaluation.errors = verified.worst;
    evaluation.deterministic = verified.deterministic;
    if (verified.failure) return fail(evaluation, *verified.failure);
    evaluation.status = Status::ok;
    if (options.measure_time) time_solution(session, verified, best_known, evaluation);
  }

  void time_solution(SolutionSession& session, const Verification& verified, double best_known,
                     Evaluation& evaluation) {
    const auto guard = lock.alone();
    bool accused = false;
    const auto measure_once = [&] {
      Measurement made = accused ? measure_afresh(session, verified, evaluation)
                                 : measure(session, verified, measurement_options(), evaluation);
      accused = accused || (made.failure && made.failure->status == Status::clock_mismatch);
      pairs = made.pairs;
      return made;
    };
    if (auto unsettled = measure_until_stable(measure_once, options.protocol, evaluation))
      return fail(evaluation, *unsettled);
    const double least = least_possible_ms(verified);
    const bool impossible = evaluation.timing->candidate_ms < least;
    if (impossible || needs_confirmation(evaluation.timing->speedup, best_known))
      if (auto unconfirmed = confirm(session, verified, least, evaluation)) return fail(evaluation, *unconfirmed);
    evaluation.reward = reward_of(*evaluation.timing, options.protocol);
  }

  Measurement measure(SolutionSession& session, const Verification& verified, const MeasurementOptions& how,
                      Evaluation& evaluation) {
    Measurement made = measure_solution(context, reference, session, verified, how, limits(), random);
    if (!made.errors.empty()) evaluation.errors = made.errors;
    return made;
  }

  //! Two processes can differ for their lives in where their memory and their core lie, and few calls can differ by
  //! chance. So who was accused is measured with new processes on both sides, and longer.
  Measurement measure_afresh(SolutionSession& session, const Verification& verified, Evaluation& evaluation) {
    ++evaluation.fresh_process_checks;
    start_reference();
    if (const auto started = start(session, evaluation); !started) return {started.failure(), {}, {}, {}, {}};
    MeasurementOptions longer = measurement_options();
    longer.pairs_a_round *= closer_look;
    longer.longest_seconds *= closer_look;
    return measure(session, verified, longer, evaluation);
  }

  //! To read from memory those input bytes that matter.
  double least_possible_ms(const Verification& verified) {
    const double bandwidth = context.device.peak_bytes_per_second;
    if (bandwidth <= 0.0) return 0.0;
    const double bytes =
        input_bytes_that_matter(context.rule, context.task.task, context.device.tensors, verified.constants, random);
    return 1e3 * bytes / bandwidth;
  }

  std::optional<Failure> confirm(SolutionSession& session, const Verification& verified, double least_ms,
                                 Evaluation& evaluation) {
    const double first = evaluation.timing->speedup;
    ++evaluation.fresh_process_checks;
    if (const auto started = start(session, evaluation); !started) return started.failure();
    const Measurement again = measure(session, verified, measurement_options(), evaluation);
    if (again.failure) return again.failure;
    if (again.summary.candidate_ms < least_ms)
      return Failure{Status::faster_than_possible,
                     fmt::format("{:.4f} ms is less than reading the inputs takes ({:.4f} ms)",
                                 again.summary.candidate_ms, least_ms)};
    if (confirms(first, again.summary.speedup)) return std::nullopt;
    return Failure{Status::unstable, fmt::format("a fresh process measures {:.2f}x where the first measured {:.2f}x",
                                                 again.summary.speedup, first)};
  }

  JudgeOptions options;
  std::uint64_t seed;
  Random random;
  GpuLock lock;
  std::unique_ptr<GpuLock::Guard> starting;  // the context uses the device as well
  SolutionContext context;
  SolutionSession reference;
  double reference_ms = 0.0;
  int reference_processes = 0;
  std::vector<TimedPair> pairs;
};

SolutionJudge::SolutionJudge(SolutionTask task, SolutionDevice device, const JudgeOptions& options)
    : impl_(std::make_unique<Impl>(std::move(task), std::move(device), options)) {}

SolutionJudge::~SolutionJudge() = default;

const std::string& SolutionJudge::name() const { return impl_->context.task.task.name; }
const std::string& SolutionJudge::hash() const { return impl_->context.task.task.hash; }
const std::string& SolutionJudge::source_text() const { return impl_->context.task.task.source_text; }

const std::vector<TimedPair>& SolutionJudge::pairs() const { return impl_->pairs; }

Evaluation SolutionJudge::evaluate(const std::string& name, const std::string& text, double best_known) {
  const auto begin = Clock::now();
  Evaluation evaluation = impl_->blank(name, text);
  impl_->pairs.clear();
  try {
    impl_->judge(text, best_known, evaluation);
  } catch (...) {
    Impl::fail(evaluation, failure_of_current_exception());
  }
  evaluation.seconds = seconds_since(begin);
  return evaluation;
}

}  // namespace cudal1
