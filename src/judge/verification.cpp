#include "judge/verification.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "graph/generator.hpp"
#include "judge/compared_place.hpp"

namespace cudal1 {
namespace {

constexpr int dependence_draws = 4;
constexpr std::size_t fewest_sets = 3;  // two with weights of their own, and a derived one
constexpr double changed_share = 0.01;

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& tensor : tensors) result.push_back(tensor.clone());
  return result;
}

std::string describe_mismatch(const OutputError& error) {
  if (error.mismatches > 0)
    return fmt::format("output '{}' on {} inputs: {} elements are not finite, or not equal, where they must be",
                       error.output, error.distribution, error.mismatches);
  if (error.constant)
    return fmt::format("output '{}' on {} inputs: all elements are the same, where the reference's differ",
                       error.output, error.distribution);
  if (error.slice.share() > 1.0)
    return fmt::format(
        "output '{}' on {} inputs: at index {} of dimension {}, whose numbers {}, {} error {:.3g} "
        "(allowed {:.3g})",
        error.output, error.distribution, error.slice.index, error.slice.dimension,
        error.slice.is_rms ? "follow the inputs by little" : "are small", error.slice.is_rms ? "rms" : "largest",
        error.slice.error, error.slice.budget);
  if (error.part.share() > 1.0)
    return fmt::format("output '{}' on {} inputs: among the numbers up to {:.3g}, {} error {:.3g} (allowed {:.3g})",
                       error.output, error.distribution, error.part.below, error.part.is_rms ? "rms" : "largest",
                       error.part.error, error.part.budget);
  return fmt::format(
      "output '{}' on {} inputs: largest error {:.3g} (allowed {:.3g}), rms error {:.3g} (allowed {:.3g})",
      error.output, error.distribution, error.max_error, error.max_budget, error.rms_error, error.rms_budget);
}

void keep_worst(std::vector<OutputError>& worst, const std::vector<OutputError>& errors) {
  worst.resize(errors.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool is_worse = worst[i].output.empty() || errors[i].mismatches > worst[i].mismatches ||
                          (errors[i].mismatches == worst[i].mismatches && errors[i].margin() > worst[i].margin());
    if (is_worse) worst[i] = errors[i];
  }
}

//! Of the first call that has any.
void keep_what_was_seen(const CallTimes& call, Verification& verification) {
  if (verification.findings.empty()) verification.findings = call.findings;
  if (verification.printed.empty()) verification.printed = call.printed;
}

std::optional<Failure> find_violation(TaskContext& context, PlanSession& session) {
  const auto timing = context.spent().time("memory");
  return session.find_violation(true);
}

std::optional<Failure> compare(TaskContext& context, const PlanSession& session, const InputSet& set,
                               Verification& verification) {
  const auto timing = context.spent().time("compare");
  return check_results(context, session, set.expected, set.distribution, verification);
}

struct SetUse {
  bool first_call = false;  //!< with these weights
  bool twice = false;       //!< the same again
};

//! One input set.
std::optional<Failure> verify_set(TaskContext& context, PlanSession& session, const InputSet& set, const SetUse& use,
                                  const VerificationOptions& options, Random& random, Verification& verification) {
  keep_budgets(verification, set.distribution, set.expected);
  // Capturing a graph runs the call once on memory that was poisoned for it; what counts are calls after that.
  if (session.plan().cuda_graph && use.first_call) {
    const auto timing = context.spent().time("calls");
    const auto captured = session.rehearse(set.leaves, options.call_limit);
    if (!captured) return captured.failure();
    keep_what_was_seen(captured.value(), verification);
  }
  std::vector<at::Tensor> first;
  for (int run = 0; run < (use.twice ? 2 : 1); ++run) {
    const Poison poison = (random.next() & 1) != 0 || run == 1 ? Poison::large_number : Poison::not_a_number;
    const auto called = [&] {
      const auto timing = context.spent().time("calls");
      return session.call(set.leaves, run == 0 && use.twice ? Poison::not_a_number : poison, options.call_limit, false);
    }();
    if (!called) return called.failure();
    keep_what_was_seen(called.value(), verification);
    double& longest = verification.call_ms[set.distribution];
    longest = std::max(longest, called.value().device_ms);
    if (auto failure = compare(context, session, set, verification)) return failure;
    if (auto failure = find_violation(context, session)) return failure;
    if (run == 0 && use.twice) first = copies(results_in(context, session));
  }
  if (!use.twice) return std::nullopt;
  const auto timing = context.spent().time("compare");
  return compare_runs(first, results_in(context, session), set.expected, options.demand_equal_bits, verification);
}

std::shared_ptr<const InputSet> next_set(TaskContext& context, InputSets& sets) {
  const auto timing = context.spent().time("inputs");
  return sets.next();
}

//! A wrong result is the verdict, and what was found helps to understand it; right results are not enough.
void report_findings(Verification& verification) {
  if (verification.findings.empty()) return;
  const Finding& first = verification.findings.front();
  if (!verification.failure) {
    verification.failure = Failure{Status::unsafe, first.message, first.at, {}};
  } else if (verification.failure->status == Status::wrong_result) {
    verification.failure->message += "; " + first.message;
    verification.failure->at = first.at;
  }
}

std::size_t sets_to_use(const TaskContext& context, const InputSets& sets, const VerificationOptions& options) {
  const InputSetStore& store = context.input_sets();
  if (!options.few_sets || !store.lacks_room()) return sets.count();
  return std::min(sets.count(), std::max(fewest_sets, store.kept()));
}

TensorTable change_some_elements(const TaskContext& context, const TensorTable& leaves, Random& random) {
  TensorTable changed = leaves;
  const TensorTable other = context.with_inputs(leaves, Distribution::native, random.next());
  for (const ValueId id : context.task().graph.inputs) {
    const auto index = static_cast<std::size_t>(id);
    const at::Device device = leaves[index].device();
    const at::Tensor mask = at::rand(leaves[index].sizes(), make_generator(device, random.next()),
                                     at::TensorOptions(device).dtype(at::kFloat))
                                .lt(changed_share);
    at::Tensor target = at::empty_strided(leaves[index].sizes(), leaves[index].strides(), leaves[index].options());
    changed[index] = target.copy_(at::where(mask, other[index], leaves[index]));
  }
  return changed;
}

}  // namespace

void keep_budgets(Verification& verification, Distribution distribution, const Expected& expected) {
  std::vector<OutputBudget>& smallest = verification.budgets[distribution];
  if (smallest.empty()) smallest = expected.budgets;
  for (std::size_t i = 0; i < smallest.size(); ++i)
    if (expected.budgets[i].max < smallest[i].max) smallest[i] = expected.budgets[i];
}

std::optional<Failure> compare_runs(const std::vector<at::Tensor>& first, const std::vector<at::Tensor>& second,
                                    const Expected& expected, bool demand_equal_bits, Verification& verification) {
  bool equal_bits = true;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (as_bits(first[i]).equal(as_bits(second[i]))) continue;
    equal_bits = false;
    if (!agree(first[i], second[i], expected.budgets[i]) || demand_equal_bits) {
      verification.deterministic = false;
      return Failure{Status::nondeterministic, "two runs on the same inputs give different results"};
    }
  }
  verification.deterministic = equal_bits;
  return std::nullopt;
}

std::vector<at::Tensor> results_in(const TaskContext& context, const PlanSession& session) {
  std::vector<at::Tensor> results = session.outputs();
  const std::vector<at::Tensor> states = session.states(context.task().graph.states);
  results.insert(results.end(), states.begin(), states.end());
  return where_compared(std::move(results));
}

std::optional<Failure> check_results(TaskContext& context, const PlanSession& session, const Expected& expected,
                                     Distribution distribution, Verification& verification) {
  return check_results(context.rule(), results_in(context, session), expected, distribution, verification);
}

std::optional<Failure> check_results(const MatchRule& rule, const std::vector<at::Tensor>& results,
                                     const Expected& expected, Distribution distribution, Verification& verification) {
  const auto errors = rule.compare(expected, results, distribution);
  keep_worst(verification.worst, errors);
  for (const OutputError& error : errors)
    if (!error.matches()) return Failure{Status::wrong_result, describe_mismatch(error)};
  return std::nullopt;
}

Verification verify(TaskContext& context, PlanSession& session, const VerificationOptions& options, Random& random) {
  Verification verification;
  InputSets sets(context, options.native_sets, random);
  const std::size_t count = sets_to_use(context, sets, options);
  verification.is_partial = count < sets.count();
  for (std::size_t i = 0; i < count && !verification.failure; ++i) {
    context.let_others_pass();
    const std::shared_ptr<const InputSet> set = next_set(context, sets);
    if (sets.has_new_weights(i)) {
      verification.constants = set->constants;
      const auto timing = context.spent().time("weights");
      const auto placed = session.set_constants(verification.constants, options.call_limit);
      if (!placed) {
        verification.failure = placed.failure();
        break;
      }
    }
    verification.failure =
        verify_set(context, session, *set, {sets.has_new_weights(i), i == 0}, options, random, verification);
  }
  report_findings(verification);
  // A call that ends by a fault has printed, too.
  if (verification.failure && verification.printed.empty())
    verification.printed = std::exchange(verification.failure->details, {});
  return verification;
}

std::optional<Failure> test_dependence(TaskContext& context, PlanSession& session, const TensorTable& constants,
                                       std::chrono::milliseconds call_limit, Random& random) {
  Verification verification;
  VerificationOptions options;
  options.call_limit = call_limit;
  TensorTable leaves = context.with_inputs(constants, Distribution::native, random.next());
  for (int draw = 0; draw < dependence_draws; ++draw) {
    const InputSet set{Distribution::native, constants, leaves,
                       context.rule().expect(leaves, Distribution::native, random.next())};
    if (auto failure = verify_set(context, session, set, {draw == 0}, options, random, verification)) return failure;
    leaves = change_some_elements(context, leaves, random);
  }
  return std::nullopt;
}

}  // namespace cudal1
