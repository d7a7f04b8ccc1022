#include "dialect/solution_verification.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "graph/inputs.hpp"
#include "judge/degenerate.hpp"

namespace cudal1 {
namespace {

constexpr std::chrono::milliseconds settling_time{300}, look{60};
constexpr double most_background_load = 0.25;
constexpr int late_threads = 2;  // of libraries, which start some when they first need them

std::vector<bool> weights_that_change(const SolutionContext& context, Random& random) {
  const std::vector<ValueId>& weights = context.task.task.graph.weights;
  const TensorTable first = context.draw_constants(random.next(), false),
                    fresh = context.draw_constants(random.next(), true);
  std::vector<bool> changing;
  for (const ValueId id : weights)
    changing.push_back(!first[static_cast<std::size_t>(id)].equal(fresh[static_cast<std::size_t>(id)]));
  return changing;
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& tensor : tensors) result.push_back(tensor.clone());
  return result;
}

class SolutionVerifier {
 public:
  SolutionVerifier(const SolutionContext& context, SolutionSession& session, const SolutionVerificationOptions& options,
                   int reference_processes, Random& random)
      : context_(context),
        session_(session),
        options_(options),
        reference_processes_(reference_processes),
        random_(random) {}

  Verification run() {
    const auto sets = choose_sets(context_.distributions, options_.native_sets, random_);
    for (std::size_t i = 0; i < sets.size() && !made_.failure; ++i) {
      made_.failure = verify_set(i, sets[i]);
      if (i == 0 && !made_.failure) made_.failure = look_at_processes();
    }
    if (!made_.failure) made_.failure = session_.find_changed_weight();
    if (!made_.failure) made_.failure = find_background_work(session_.watch(), warm_);
    return std::move(made_);
  }

 private:
  //! The second set comes with new weights: the model exists already and must use them.
  std::optional<Failure> verify_set(std::size_t index, Distribution distribution) {
    if (index <= 1) {
      made_.constants = context_.draw_constants(random_.next(), index == 1);
      if (const auto written = session_.set_constants(made_.constants); !written) return written.failure();
    }
    const TensorTable leaves = context_.with_inputs(made_.constants, distribution, random_.next());
    const Expected expected = context_.rule.expect(leaves, distribution, random_.next());
    keep_budgets(made_, distribution, expected);
    if (auto failure = run_once(leaves, expected, distribution)) return failure;
    if (index > 0) return std::nullopt;
    const std::vector<at::Tensor> first = copies(session_.results());
    if (auto failure = run_once(leaves, expected, distribution)) return failure;
    return compare_runs(first, session_.results(), expected, options_.demand_equal_bits, made_);
  }

  std::optional<Failure> run_once(const TensorTable& leaves, const Expected& expected, Distribution distribution) {
    const auto called = session_.call(leaves, options_.limits);
    if (!called) return called.failure();
    if (session_.violation()) return session_.violation();
    return check_results(context_.rule, session_.results(), expected, distribution, made_);
  }

  //! After the first calls everything that libraries start has been started.
  std::optional<Failure> look_at_processes() {
    warm_ = session_.watch().count();
    if (warm_.processes <= reference_processes_) return std::nullopt;
    std::this_thread::sleep_for(settling_time);
    warm_ = session_.watch().count();
    if (warm_.processes <= reference_processes_) return std::nullopt;
    return Failure{Status::forbidden, "leaves other processes running"};
  }

  const SolutionContext& context_;
  SolutionSession& session_;
  const SolutionVerificationOptions& options_;
  int reference_processes_;
  Random& random_;
  Verification made_;
  ProcessCount warm_;
};

}  // namespace

SolutionContext::SolutionContext(SolutionTask task_, SolutionDevice device_, PrecisionPolicy precision_,
                                 std::uint64_t seed)
    : task(std::move(task_)),
      device(std::move(device_)),
      // A CPU has no TF32, and eager PyTorch does not pretend.
      precision(!device.is_cuda() && precision_ == PrecisionPolicy::standard ? PrecisionPolicy::strict : precision_),
      rule(task.task, device.tensors, precision),
      distributions(distributions_of(task.task)) {
  Random random(seed);
  changing_weights = weights_that_change(*this, random);
  InputDependence dependence =
      input_dependence(rule, task.task, draw_constants(random.next(), false), device.tensors, random);
  degenerate = task.task.degenerate || dependence.degenerate;
  rule.know_variation(std::move(dependence.variation));
}

TensorTable SolutionContext::draw_constants(std::uint64_t seed, bool fresh) const {
  Random random(seed);
  return cudal1::draw_constants(task.task, random, fresh, device.tensors);
}

TensorTable SolutionContext::with_inputs(const TensorTable& constants, Distribution distribution,
                                         std::uint64_t seed) const {
  TensorTable table = constants;
  draw_inputs(task.task, distribution, seed, device.tensors, table);
  return table;
}

PrecisionFlags SolutionContext::flags() const {
  return {precision != PrecisionPolicy::strict, precision == PrecisionPolicy::tf32};
}

Verification verify_solution(const SolutionContext& context, SolutionSession& session,
                             const SolutionVerificationOptions& options, int reference_processes, Random& random) {
  return SolutionVerifier(context, session, options, reference_processes, random).run();
}

std::optional<Failure> find_background_work(const ProcessWatch& watch, const ProcessCount& warm) {
  ProcessCount now = watch.count();
  if (now.threads > warm.threads + late_threads || now.processes > warm.processes) {
    std::this_thread::sleep_for(settling_time);
    now = watch.count();
  }
  if (now.processes > warm.processes) return Failure{Status::forbidden, "calls leave other processes running"};
  if (now.threads > warm.threads + late_threads)
    return Failure{Status::forbidden, fmt::format("calls leave threads running: {} after the first calls, {} now",
                                                  warm.threads, now.threads)};
  if (watch.background_load(look) <= most_background_load) return std::nullopt;
  std::this_thread::sleep_for(settling_time);
  const double load = watch.background_load(look);
  if (load <= most_background_load) return std::nullopt;
  return Failure{Status::forbidden,
                 fmt::format("threads work between calls, {:.0f}% of a core, when nothing was asked", 100.0 * load)};
}

}  // namespace cudal1
