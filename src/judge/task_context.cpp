#include "judge/task_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/value_or_throw.hpp"
#include "judge/degenerate.hpp"
#include "judge/library_memory.hpp"

namespace cudal1 {
namespace {

constexpr std::chrono::milliseconds reference_limit{60000};
constexpr int reference_calls = 10, fewest_calls = 3;
constexpr std::chrono::milliseconds longest_look{500};

//! For the reference's operators, also where a CUDA Graph keeps copies of what they read and write.
std::uint64_t library_bytes_of_most(Plan plan) {
  plan.cuda_graph = true;
  return library_bytes(plan);
}

Plan plan_of_empty_program(const Task& task) {
  auto plan = make_plan(task.graph, "");
  if (!plan) throw Error(fmt::format("{}: no plan for the reference: {}", task.name, plan.failure().message));
  return std::move(plan).value();
}

std::uint64_t seed_of_reference(std::uint64_t seed) { return Random(seed).fork().next(); }
std::uint64_t seed_of_candidate(std::uint64_t seed) { return Random(seed + 1).fork().next(); }

std::string reference_of(const Task& task) { return task.name + ": the reference does not run"; }

}  // namespace

TaskContext::TaskContext(Backend& backend, Task task, PrecisionPolicy precision, std::uint64_t seed, int processes,
                         bool measures, const TakeTurn& take_turn, LetOthersPass let_others_pass)
    : backend_(backend),
      task_(std::move(task)),
      tensor_device_(backend.tensors_on_cuda() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)),
      precision_(precision),
      empty_plan_(plan_of_empty_program(task_)),
      rule_(task_, tensor_device_, precision),
      reference_(backend, seed_of_reference(seed), processes),
      candidate_(backend, seed_of_candidate(seed), processes),
      distributions_(distributions_of(task_)),
      let_others_pass_(works_ahead() ? [] {} : std::move(let_others_pass)),
      measures_(measures) {
  rule_.between_runs(let_others_pass_);
  for (PlanSession* session : {&reference_, &candidate_}) {
    session->count_time_in(spent_);
    session->between_pieces(let_others_pass_);
  }
  candidate_.expect_library(library_bytes_of_most(empty_plan_));
  if (measures_ && !works_ahead()) reference_.spawn_ahead(empty_plan_);
  const std::shared_ptr<void> turn = take_turn();
  Random random(seed);
  // A runner loads LibTorch first, which takes as long as the oracle's first results.
  const bool loads_ahead = works_ahead() && measures_;
  if (loads_ahead) value_or_throw(reference_.begin_load(empty_plan_, {}, flags()), reference_of(task_));
  InputDependence dependence =
      input_dependence(rule_, task_, draw_constants(random.next(), false), tensor_device_, random);
  degenerate_ = task_.degenerate || dependence.degenerate;
  rule_.know_variation(std::move(dependence.variation));
  if (loads_ahead) value_or_throw(reference_.finish_load(), reference_of(task_));
  if (measures_)
    time_reference(random);
  else
    time_reference_here(random);
}

PrecisionFlags TaskContext::flags() const {
  return {precision_ != PrecisionPolicy::strict, precision_ == PrecisionPolicy::tf32};
}

void TaskContext::reseed(std::uint64_t seed) {
  reference_.reseed(seed_of_reference(seed));
  candidate_.reseed(seed_of_candidate(seed));
}

TensorTable TaskContext::draw_constants(std::uint64_t seed, bool fresh) const {
  Random random(seed);
  return cudal1::draw_constants(task_, random, fresh, tensor_device_);
}

TensorTable TaskContext::with_inputs(const TensorTable& constants, Distribution distribution,
                                     std::uint64_t seed) const {
  TensorTable table = constants;
  draw_inputs(task_, distribution, seed, tensor_device_, table);
  return table;
}

void TaskContext::set_reference_constants(const TensorTable& constants, int process) {
  if (!reference_.has_runner()) value_or_throw(reference_.load(empty_plan_, {}, flags()), reference_of(task_));
  reference_.use_process(process);
  value_or_throw(reference_.set_constants(constants, reference_limit), reference_of(task_));
}

//! With more memory for libraries, for as long as that is what is missing: it cannot be told beforehand.
void TaskContext::time_reference(Random& random) {
  for (;;) {
    const auto timed = try_to_time_reference(random);
    if (timed) return;
    if (!is_short_of_library_memory(timed.failure()) || !reference_.give_library_more())
      value_or_throw(timed, reference_of(task_));
  }
}

//! A runner with its libraries takes seconds to start.
void TaskContext::time_reference_here(Random& random) {
  const TensorTable constants = draw_constants(random.next(), false);
  reference_ms_ = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i) {  // the first one loads kernels
    const TensorTable leaves = with_inputs(constants, Distribution::native, random.next());
    backend_.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    rule_.reference(leaves);
    backend_.synchronize();
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    reference_ms_ = std::min(reference_ms_, taken.count());
  }
}

//! Roughly, for limits; what is compared is measured beside each candidate.
Result<PlanSession::Done> TaskContext::try_to_time_reference(Random& random) {
  const TensorTable constants = draw_constants(random.next(), false);
  set_reference_constants(constants);
  reference_ms_ = std::numeric_limits<double>::infinity();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < (backend_.predicted() ? 1 : reference_calls); ++i) {
    if (i >= fewest_calls && std::chrono::steady_clock::now() - begin > longest_look) break;
    const TensorTable leaves = with_inputs(constants, Distribution::native, random.next());
    const auto times = reference_.call(leaves, Poison::not_a_number, reference_limit, true);
    if (!times) return times.failure();
    reference_ms_ = std::min(reference_ms_, times.value().device_ms);
  }
  return PlanSession::Done{};
}

}  // namespace cudal1
