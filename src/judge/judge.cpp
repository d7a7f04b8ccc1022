#include "judge/judge.hpp"

#include <c10/core/CachingDeviceAllocator.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/hash.hpp"
#include "base/seconds_since.hpp"
#include "judge/gpu_lock.hpp"
#include "judge/judge_errors.hpp"
#include "judge/library_memory.hpp"
#include "judge/measurement.hpp"
#include "judge/possible.hpp"
#include "judge/profiler.hpp"
#include "judge/shared_turn.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double reference_times_allowed = 1000.0;
constexpr double shortest_limit_ms = 1000.0;
constexpr double shortest_limit_beside_others_ms = 10'000.0;  // programs of other judges take turns with it
constexpr double shortest_interpreted_limit_ms = 120'000.0;   // endless loops end by their number of instructions
constexpr int processes_for_results = 4;
constexpr int verifications_of_a_set = 20;
// An oracle takes as long as tens of calls, with the GPU alone. Who gains by its timed calls is looked at again, beside
// others (look_at_unseen).
constexpr std::uint64_t oracle_looks_of_searches = 64, closer_looks_of_searches = 8;
constexpr std::uint64_t hardly_ever = std::uint64_t{1} << 40;
constexpr int most_processes_for_a_record = 3;

PrecisionPolicy policy_of(Precision precision) {
  switch (precision) {
    case Precision::strict:
      return PrecisionPolicy::strict;
    case Precision::tf32:
      return PrecisionPolicy::tf32;
    case Precision::paper:
      return PrecisionPolicy::paper;
    default:
      return PrecisionPolicy::standard;
  }
}

}  // namespace

std::string_view to_string(JudgeMode mode) { return mode == JudgeMode::fast ? "fast" : "result"; }

std::string_view to_string(TimingProtocol protocol) { return protocol == TimingProtocol::paper ? "paper" : "standard"; }

std::string_view to_string(Precision precision) {
  constexpr std::string_view names[] = {"standard", "strict", "tf32", "paper"};
  return names[static_cast<int>(precision)];
}

Task load_task_with_metas(const std::filesystem::path& path) {
  Task task = load_task(path);
  try {
    infer_metas(task);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", graph_file(path).string(), error.what()));
  }
  return task;
}

struct TaskJudge::Impl {
  Impl(Backend& backend_, Task task, const JudgeOptions& options_)
      : backend(backend_),
        options(options_),
        seed(options_.seed != 0 ? options_.seed : secret_seed()),
        random(seed),
        lock(backend_.info().uuid),
        turn(lock, before_others_measure) {
    context = std::make_unique<TaskContext>(
        backend, std::move(task), policy_of(options.precision), random.next(), processes(), options.measure_time,
        [this] { return share_gpu(); }, [this] { let_others_measure(); });
    share_input_sets();
  }

  void share_input_sets() {
    if (options.mode == JudgeMode::fast)
      context->share_input_sets(verifications_of_a_set, options.bytes_for_input_sets);
  }

  void reseed(std::uint64_t new_seed) {
    seed = new_seed;
    random = Random(seed);
    context->reseed(random.next());
    share_input_sets();  // none of those that are there
  }

  //! Whoever holds the lock already must not wait for it (gpu_lock.hpp).
  std::shared_ptr<void> share_gpu() { return options.caller_shares_gpu ? nullptr : turn.hold(); }

  std::shared_ptr<void> wait_to_share_gpu() {
    const auto timing = context->spent().time("wait");
    return share_gpu();
  }

  //! Between pieces of work that is done on a share of the GPU.
  void let_others_measure() {
    if (!turn.is_due()) return;
    backend.synchronize();
    std::optional<StageSeconds::Section> timing;
    if (context) timing.emplace(context->spent(), "wait");
    turn.let_pass();
  }

  GpuLock::Guard wait_to_be_alone() {
    const auto timing = context->spent().time("wait");
    return lock.alone();
  }

  double shortest_limit() const {
    if (backend.predicted()) return shortest_interpreted_limit_ms;
    const bool beside_others = options.caller_shares_gpu || options.beside_other_judges;
    return beside_others ? shortest_limit_beside_others_ms : shortest_limit_ms;
  }

  std::chrono::milliseconds call_limit() const {
    const double milliseconds = options.call_limit_seconds > 0.0
                                    ? options.call_limit_seconds * 1e3
                                    : std::max(shortest_limit(), reference_times_allowed * context->reference_ms());
    return std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
  }

  bool makes_figures() const { return options.mode == JudgeMode::result && options.measure_time; }

  //! Figures are taken over several processes; one will do for training.
  int processes() const {
    return makes_figures() && !backend.predicted() && options.protocol == TimingProtocol::standard
               ? processes_for_results
               : 1;
  }

  VerificationOptions verification_options() const {
    VerificationOptions result;
    result.native_sets = options.mode == JudgeMode::fast ? 2 : 3;
    result.demand_equal_bits = options.demand_equal_bits;
    result.call_limit = call_limit();
    result.few_sets = leaves_looks_for_later();
    return result;
  }

  //! In searches and training. Not for figures, nor where one call is all that is seen.
  bool leaves_looks_for_later() const {
    return options.bytes_for_input_sets > 0 && !makes_figures() && !backend.predicted();
  }

  MeasurementOptions measurement_options() const {
    MeasurementOptions result;
    result.protocol = options.protocol;
    result.paper_window_seconds = options.paper_window_seconds;
    result.call_limit = call_limit();
    if (leaves_looks_for_later()) {
      result.oracle_looks = short_of_memory ? hardly_ever : oracle_looks_of_searches;
      result.closer_looks = short_of_memory ? hardly_ever : closer_looks_of_searches;
    }
    if (looks_once_more) result.most_pairs = result.pairs_a_round;
    if (makes_figures()) {
      result.wanted_half_width = 0.004;  // what differs between processes comes on top
      result.pairs_a_round = 140;
      result.most_pairs = 2800;
      result.longest_seconds = 20.0;
    }
    if (options.longest_measurement_seconds > 0.0) result.longest_seconds = options.longest_measurement_seconds;
    return result;
  }

  Evaluation blank(const CompiledProgram& program) const {
    Evaluation evaluation;
    evaluation.task = context->task().name;
    evaluation.program = program.name;
    evaluation.task_hash = context->task().hash;
    evaluation.program_hash = sha256_hex(program.text);
    evaluation.plan_hash = program.plan.hash;
    evaluation.device = backend.info().name;
    evaluation.target = backend.info().target;
    evaluation.predicted = backend.predicted();
    evaluation.mode = to_string(options.mode);
    evaluation.timing_protocol = to_string(options.protocol);
    evaluation.precision = to_string(options.precision);
    evaluation.seed = seed;
    evaluation.degenerate_task = context->degenerate();
    evaluation.compile_seconds = program.module.seconds;
    evaluation.compiled_from_cache = program.module.from_cache;
    for (const Step& step : program.plan.call) {
      evaluation.launches += std::holds_alternative<LaunchStep>(step) ? 1 : 0;
      evaluation.op_steps += std::holds_alternative<OpStep>(step) ? 1 : 0;
    }
    return evaluation;
  }

  //! After these the device may be damaged, or still busy: a launch that is refused does not stop the one before it.
  static bool may_leave_work_behind(Status status) {
    return status == Status::illegal_access || status == Status::timeout || status == Status::crashed ||
           status == Status::launch_error || status == Status::out_of_memory || status == Status::unsupported;
  }

  // Any fault, any time-out, and in result mode any program leads to a fresh process.
  void fail(Evaluation& evaluation, const Failure& failure) {
    evaluation.status = failure.status;
    evaluation.failure = failure;
    if (may_leave_work_behind(failure.status)) context->candidate().discard_runner();
  }

  Result<PlanSession::Done> load(const CompiledProgram& program) {
    const auto timing = context->spent().time("load");
    return context->candidate().load(program.plan, program.module, context->flags());
  }

  //! What of a load needs no GPU is done before others have to wait for it.
  void spawn_ahead(const CompiledProgram& program) {
    const auto timing = context->spent().time("spawn");
    if (!backend.predicted()) context->candidate().spawn_ahead(program.plan);
  }

  Verification load_and_verify(const CompiledProgram& program) {
    spawn_ahead(program);
    const auto guard = wait_to_share_gpu();
    make_room();
    Verification verified;
    if (const auto loaded = load(program); !loaded)
      verified.failure = loaded.failure();
    else
      verified = verify(*context, context->candidate(), verification_options(), random);
    return verified;
  }

  //! Where an oracle does not fit beside both arenas, that of the reference goes until it is measured.
  void make_room() {
    if (short_of_memory) context->reference().give_memory_back();
  }

  //! Everything that the judge holds goes, and from then on it gets by with less.
  bool made_room_after(const Failure& failure) {
    if (failure.status != Status::out_of_memory || backend.predicted()) return false;
    short_of_memory = true;
    context->reference().give_memory_back();
    context->candidate().give_memory_back();
    share_input_sets();
    give_back_cached_memory(backend);
    return true;
  }

  void evaluate_on_device(const CompiledProgram& program, double best_known, Evaluation& evaluation) {
    PlanSession& session = context->candidate();
    if (options.mode == JudgeMode::result) session.discard_runner();
    Verification verified = load_and_verify(program);
    while (verified.failure && is_short_of_library_memory(*verified.failure) && session.give_library_more())
      verified = load_and_verify(program);
    evaluation.errors = verified.worst;
    evaluation.deterministic = verified.deterministic;
    evaluation.printed = verified.printed;
    if (verified.failure) return fail(evaluation, *verified.failure);
    evaluation.status = Status::ok;
    if (options.measure_time) time_program(program, verified, best_known, evaluation);
    if (looks_once_more) look_at_timed_calls(verified, evaluation);
    if (options.profile_steps && evaluation.timing && !backend.predicted()) add_profile(program, verified, evaluation);
  }

  void evaluate_or_fail(const CompiledProgram& program, double best_known, Evaluation& evaluation) {
    try {
      evaluate_on_device(program, best_known, evaluation);
    } catch (...) {
      fail(evaluation, failure_of_current_exception());
      context->candidate().discard_runner();
    }
  }

  //! Of steps on a real GPU.
  std::string profile_reference() {
    const CompiledProgram empty = compile_program(context->task().graph, backend, "empty.cu", "", options.precision);
    if (empty.failure || !load_beside_others(empty)) return {};
    const TensorTable constants = context->draw_constants(random.next(), false);
    const ProfileJob job{*context, backend, empty, constants, call_limit()};
    const auto guard = lock.alone();
    const vgpu::ProfileReport report = time_steps(job, random);
    return report.rows.empty() ? std::string() : to_text(report);
  }

  //! Measures until a result is stable, and again in a fresh process where the paper's rule asks for it.
  void time_program(const CompiledProgram& program, const Verification& verified, double best_known,
                    Evaluation& evaluation) {
    if (backend.predicted()) return predict_time(verified, evaluation);
    if (options.caller_shares_gpu) throw Error("nothing can be measured while the GPU is shared");
    Alone alone(wait_to_be_alone());
    std::optional<TimedCall> unseen;
    const auto measured = [&] {
      Measurement measurement = measure_once(verified, evaluation);
      unseen = std::exchange(measurement.unseen, std::nullopt);
      return measurement;
    };
    if (auto unsettled = measure_until_stable(measured, options.protocol, evaluation))
      return fail(evaluation, *unsettled);
    if (auto impossible = check_possible(program, verified, evaluation, alone)) return fail(evaluation, *impossible);
    if (auto unconfirmed = confirm(program, verified, best_known, evaluation, alone))
      return fail(evaluation, *unconfirmed);
    alone.reset();
    if (evaluation.timing->speedup > best_known)
      if (auto wrong = look_closer(verified, unseen, evaluation)) return fail(evaluation, *wrong);
    evaluation.status = Status::ok;
    evaluation.reward = reward_of(*evaluation.timing, options.protocol);
  }

  //! Who is right only as far as is seen at a glance must not become the best that is known.
  std::optional<Failure> look_closer(const Verification& verified, const std::optional<TimedCall>& unseen,
                                     Evaluation& evaluation) {
    if (auto wrong = look_at_unseen(unseen, evaluation)) return wrong;
    if (!verified.is_partial) return std::nullopt;
    const auto guard = wait_to_share_gpu();
    make_room();
    VerificationOptions all_sets = verification_options();
    all_sets.few_sets = false;
    Verification again = verify(*context, context->candidate(), all_sets, random);
    if (again.failure) evaluation.errors = again.worst;
    return again.failure;
  }

  //! Of timed calls.
  std::optional<Failure> look_at_unseen(const std::optional<TimedCall>& unseen, Evaluation& evaluation) {
    if (!unseen) return std::nullopt;
    const auto guard = wait_to_share_gpu();
    make_room();
    return check_timed_call(*context, *unseen, random, evaluation.errors);
  }

  //! Of a program that was measured before, and is to be timed where nobody looks. What its clocks say was seen then.
  void look_at_timed_calls(const Verification& verified, Evaluation& evaluation) {
    Measurement calls;
    {
      const auto alone = wait_to_be_alone();
      calls = measure_once(verified, evaluation);
    }
    if (!calls.failure || calls.failure->status == Status::clock_mismatch)
      calls.failure = look_at_unseen(calls.unseen, evaluation);
    if (calls.failure) fail(evaluation, *calls.failure);
  }

  //! Nothing is measured, so nobody has to keep quiet, and a second look would say the same.
  void predict_time(const Verification& verified, Evaluation& evaluation) {
    const auto guard = share_gpu();
    const Measurement prediction = predict(*context, context->candidate(), verified, measurement_options(), random);
    if (!prediction.errors.empty()) evaluation.errors = prediction.errors;
    if (prediction.failure) return fail(evaluation, *prediction.failure);
    evaluation.timing = prediction.summary;
    evaluation.profile = prediction.profile;
    evaluation.reward = reward_of(*evaluation.timing, TimingProtocol::standard);
  }

  //! For information: whatever happens here, the verdict stands.
  void add_profile(const CompiledProgram& program, const Verification& verified, Evaluation& evaluation) {
    const ProfileJob job{*context, backend, program, verified.constants, call_limit()};
    vgpu::ProfileReport report;
    {
      const auto guard = lock.alone();
      report = time_steps(job, random);
    }
    report.whole_call_ms = evaluation.timing->candidate_device_ms;
    count_steps(job, options.counting_backend, random, report);
    evaluation.profile = to_text(report);
  }

  //! Where a timed call is wrong, the accuracy of the evaluation is that call's.
  Measurement measure_once(const Verification& verified, Evaluation& evaluation) {
    const auto timing = context->spent().time("measure");
    Measurement measurement = measure(*context, context->candidate(), verified, measurement_options(), random);
    if (!measurement.errors.empty()) evaluation.errors = measurement.errors;
    return measurement;
  }

  using Alone = std::optional<GpuLock::Guard>;

  //! A process takes longer to start than to be measured: others have the GPU meanwhile.
  Measurement measure_in_fresh_process(const CompiledProgram& program, const Verification& verified,
                                       Evaluation& evaluation, Alone& alone) {
    alone.reset();
    context->candidate().discard_runner();
    ++evaluation.fresh_process_checks;
    const auto loaded = load_beside_others(program);
    alone.emplace(wait_to_be_alone());
    if (!loaded) return {loaded.failure(), {}, {}};
    return measure_once(verified, evaluation);
  }

  Result<PlanSession::Done> load_beside_others(const CompiledProgram& program) {
    spawn_ahead(program);
    const auto guard = wait_to_share_gpu();
    return load(program);
  }

  std::optional<Failure> confirm(const CompiledProgram& program, const Verification& verified, double best_known,
                                 Evaluation& evaluation, Alone& alone) {
    const double first = evaluation.timing->speedup;
    if (!needs_confirmation(first, best_known)) return std::nullopt;
    if (options.confirm_only_records && first <= best_known) return std::nullopt;
    const Measurement again = measure_in_fresh_process(program, verified, evaluation, alone);
    if (again.failure) return again.failure;
    if (confirms(first, again.summary.speedup)) return std::nullopt;
    const Failure contradicted{
        Status::unstable, fmt::format("a fresh process measures {:.2f}x where the first measured {:.2f}x",
                                      again.summary.speedup, first)};
    if (!options.confirm_only_records) return contradicted;
    return settle_lower(program, verified, again.summary, evaluation, alone) ? std::nullopt
                                                                             : std::optional(contradicted);
  }

  //! In searches, where measurements only rank: the lowest of several, once another process says the same.
  bool settle_lower(const CompiledProgram& program, const Verification& verified, const TimingSummary& second,
                    Evaluation& evaluation, Alone& alone) {
    const auto keep_lower = [&](const TimingSummary& summary) {
      if (summary.speedup < evaluation.timing->speedup) evaluation.timing = summary;
    };
    keep_lower(second);
    for (int process = 2; process < most_processes_for_a_record; ++process) {
      const double lowest = evaluation.timing->speedup;
      const Measurement next = measure_in_fresh_process(program, verified, evaluation, alone);
      if (next.failure) return false;
      keep_lower(next.summary);
      if (confirms(lowest, next.summary.speedup)) return true;
    }
    return false;
  }

  std::optional<Failure> check_possible(const CompiledProgram& program, const Verification& verified,
                                        Evaluation& evaluation, Alone& alone) {
    const double bandwidth = backend.peak_bytes_per_second();
    if (bandwidth <= 0.0) return std::nullopt;
    const double measured_ms = evaluation.timing->candidate_device_ms;
    const auto floor_ms = [&](double bytes) { return launch_floor() + 1e3 * bytes / bandwidth; };
    if (measured_ms >= floor_ms(all_input_bytes(context->task()))) return std::nullopt;
    const double least = floor_ms(input_bytes_that_matter(*context, verified.constants, random));
    if (measured_ms >= least) return std::nullopt;
    const Measurement again = measure_in_fresh_process(program, verified, evaluation, alone);
    if (again.failure) return again.failure;
    const auto independent = test_dependence(*context, context->candidate(), verified.constants, call_limit(), random);
    if (!independent && confirms(evaluation.timing->speedup, again.summary.speedup)) return std::nullopt;
    return Failure{Status::faster_than_possible,
                   fmt::format("{:.4f} ms is less than one launch and reading the inputs take ({:.4f} ms){}",
                               measured_ms, least, independent ? "; " + independent->message : std::string())};
  }

  double launch_floor() {
    // The shortest of several is still a few percent above what the hardware can do.
    if (!shortest_launch_ms) shortest_launch_ms = measure_launch_floor_ms(backend, seed);
    return 0.9 * *shortest_launch_ms;
  }

  Backend& backend;
  JudgeOptions options;
  std::uint64_t seed;
  Random random;
  GpuLock lock;
  SharedTurn turn;
  std::unique_ptr<TaskContext> context;
  std::optional<double> shortest_launch_ms;  // measured when it is first needed
  bool looks_once_more = false;              // at timed calls, of which no time is taken
  bool short_of_memory = false;              // oracle and both arenas do not fit
};

TaskJudge::TaskJudge(Backend& backend, const std::filesystem::path& task, const JudgeOptions& options)
    : TaskJudge(backend, load_task_with_metas(task), options) {}

TaskJudge::TaskJudge(Backend& backend, Task task, const JudgeOptions& options)
    : impl_(std::make_unique<Impl>(backend, std::move(task), options)) {}

TaskJudge::~TaskJudge() = default;

const std::string& TaskJudge::name() const { return impl_->context->task().name; }
const std::string& TaskJudge::hash() const { return impl_->context->task().hash; }
const std::string& TaskJudge::source_text() const { return impl_->context->task().source_text; }

CompiledProgram TaskJudge::compile(const std::string& program_name, const std::string& text) const {
  return compile_program(impl_->context->task().graph, impl_->backend, program_name, text, impl_->options.precision);
}

void TaskJudge::reseed(std::uint64_t seed) { impl_->reseed(seed); }

void TaskJudge::profile_steps(bool wanted) { impl_->options.profile_steps = wanted; }

Evaluation TaskJudge::evaluate(const CompiledProgram& program, double best_known) {
  const auto begin = Clock::now();
  Evaluation evaluation = impl_->blank(program);
  if (program.failure)
    impl_->fail(evaluation, *program.failure);
  else
    impl_->evaluate_or_fail(program, best_known, evaluation);
  if (impl_->made_room_after(evaluation.failure)) {
    evaluation = impl_->blank(program);
    impl_->evaluate_or_fail(program, best_known, evaluation);
  }
  evaluation.seconds = seconds_since(begin);
  evaluation.stage_seconds = impl_->context->spent().take();
  return evaluation;
}

Evaluation TaskJudge::verify_again(const CompiledProgram& program) {
  const JudgeOptions usual = impl_->options;
  const InputSetStore shared = std::exchange(impl_->context->input_sets(), InputSetStore());
  impl_->options.mode = JudgeMode::result;
  impl_->options.measure_time = false;
  impl_->looks_once_more = usual.measure_time && !impl_->backend.predicted();
  Evaluation evaluation = evaluate(program);
  impl_->looks_once_more = false;
  impl_->options = usual;
  impl_->context->input_sets() = shared;
  return evaluation;
}

std::string TaskJudge::profile_reference() {
  if (!impl_->backend.predicted()) return impl_->profile_reference();
  return evaluate(compile("empty.cu", "")).profile;
}

void give_back_cached_memory(const Backend& backend) {
  if (!backend.tensors_on_cuda()) return;
  at::DeviceAllocator* const allocator = at::getDeviceAllocator(at::kCUDA);
  if (allocator->initialized()) allocator->emptyCache();  // else nothing was judged here
}

std::uint64_t take_peak_tensor_bytes(const Backend& backend) {
  if (!backend.tensors_on_cuda()) return 0;
  at::DeviceAllocator* const allocator = at::getDeviceAllocator(at::kCUDA);
  if (!allocator->initialized()) return 0;
  const auto stats = allocator->getDeviceStats(0);
  allocator->resetPeakStats(0);
  return static_cast<std::uint64_t>(stats.reserved_bytes[0].peak);  // of all kinds together
}

}  // namespace cudal1
