#include "judge/match.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "judge/compared_place.hpp"
#include "judge/error_sums.hpp"
#include "judge/oracle_convolutions.hpp"
#include "judge/perturbation.hpp"
#include "judge/perturbation_draws.hpp"
#include "judge/same_numbers.hpp"
#include "judge/tensor_sample.hpp"
#include "judge/value_facts.hpp"

namespace cudal1 {
namespace {

constexpr double varying_spread = 4.0;  // times the reference's error
constexpr double paper_tolerance = 1e-2;
constexpr double smallest_normal = 0x1.0p-126;

//! The largest element less the smallest; 0 where some are not finite.
double spread_of(const at::Tensor& tensor) {
  if (tensor.numel() < 2) return 0.0;
  const auto [least, most] = tensor.aminmax();
  const double spread = (most - least).item<double>();
  return std::isfinite(spread) ? spread : 0.0;
}

bool is_constant(const at::Tensor& tensor) {
  return tensor.numel() > 0 && tensor.eq(tensor.flatten()[0]).all().item<bool>();
}

bool is_all_finite(const at::Tensor& tensor) {
  return tensor.numel() == 0 || std::isfinite(tensor.sum(at::kDouble).item<double>());
}

//! Finite where the other is, and elsewhere the same infinity or NaN.
bool is_finite_alike(const at::Tensor& one, const at::Tensor& other) {
  const at::Tensor finite = one.isfinite().logical_and(other.isfinite());
  return finite.logical_or(same_numbers(one, other)).all().item<bool>();
}

//! Equal numbers less their mean, by their deviation: 0/0, or one rounding by another or by 0, as it falls.
bool is_finite_by_chance(const at::Tensor& exact, const SeenResults& seen) {
  if (!seen.equal_inputs) return false;
  if (is_all_finite(exact) && std::ranges::all_of(seen.moved, is_all_finite) &&
      std::ranges::all_of(seen.references, is_all_finite))
    return false;  // one pass over each, without temporaries
  const at::Tensor usual = exact.to(seen.references[0].scalar_type());
  const auto differs = [&](const at::Tensor& result) { return !is_finite_alike(usual, result.to(usual)); };
  return std::ranges::any_of(seen.moved, differs) || std::ranges::any_of(seen.references, differs);
}

bool parts_surely_close(const at::Tensor& candidate, const at::Tensor& reference, const OutputBudget& budget) {
  if (budget.relative > 0.0 && !slices_surely_close(candidate, reference, budget.relative)) return false;
  if (budget.parts.empty() && budget.limits.empty()) return true;
  const at::Tensor wide = reference.to(at::kDouble);
  const at::ScalarType type = reference.scalar_type();
  return worst_part(budget.parts, candidate, wide, type).share() <= 1.0 &&
         worst_limit(budget.limits, candidate, wide, type).share() <= 1.0;
}

std::vector<at::Tensor> results_at(const std::vector<std::vector<at::Tensor>>& runs, std::size_t index) {
  std::vector<at::Tensor> results;
  for (const auto& run : runs) results.push_back(run[index]);
  return results;
}

}  // namespace

struct MatchRule::Impl {
  Impl(const Task& task_, at::Device device, PrecisionPolicy precision_)
      : task(task_),
        precision(precision_),
        facts(facts_of(task_)),
        facts_of_result(facts_of_results(task_, facts)),
        perturbation(task, facts) {
    oracle = std::make_unique<Executor>(task.graph,
                                        ExecutorOptions{.device = device,
                                                        .fp64 = true,
                                                        .precision = precision,
                                                        .substitute = OracleConvolutions::substitute_for(task.graph)});
    const auto add_variant = [&](ReferenceVariant variant) {
      const ExecutorOptions options{.device = device, .variant = variant, .precision = precision};
      variants.push_back(std::make_unique<Executor>(task.graph, options));
    };
    add_variant(ReferenceVariant::standard);
    add_variant(ReferenceVariant::deterministic);
    add_variant(ReferenceVariant::no_cudnn);
    if (device.is_cpu()) add_variant(ReferenceVariant::one_thread);
    for (const ValueId id : task.graph.outputs) names.push_back(name_of(id));
    for (const ValueId id : task.graph.states) names.push_back(name_of(id));
  }

  std::string name_of(ValueId id) const { return task.graph.values[static_cast<std::size_t>(id)].name; }

  //! Everything is moved by as many ulps as an honest program may be off. Not by one ulp and the movement multiplied:
  //! the variance of equal numbers, say, grows with the square of their moves.
  std::vector<std::vector<at::Tensor>> perturbed_oracles(const TensorTable& leaves, Distribution distribution,
                                                         std::uint64_t seed) const {
    Random random(seed);
    std::vector<std::vector<at::Tensor>> draws;
    if (std::ranges::any_of(facts_of_result, &ValueFacts::jumps))
      for (int pair = 0; pair < pairs_behind_steps; ++pair) {
        between_runs();
        for (auto& draw : perturbation.run_both_ways(*oracle, leaves, distribution,
                                                     pair == 0 ? Directions::outward : Directions::never_zero, random))
          draws.push_back(std::move(draw));
      }
    else
      for (int draw = 0; draw < perturbation_draws; ++draw) {
        between_runs();
        draws.push_back(perturbation.run(*oracle, leaves, distribution, random));
      }
    return draws;
  }

  //! Elements behind a step are judged apart: one of them must not widen the budget of all.
  OutputBudget floating_budget(const at::Tensor& exact, SeenResults seen, std::size_t index,
                               Distribution distribution) const {
    const ValueFacts& known = facts_of_result[index];
    BudgetTerms terms{.exact = exact, .references = {}, .moved = {}, .type = seen.references[0].scalar_type()};
    terms.terms = known.terms;
    terms.floor_ulps = growth_of(known.terms, distribution) * terms.unit();
    OutputBudget budget;
    if (known.jumps) {
      const double usual = (terms.floor_ulps + terms.storage()) * sizes_of(exact, terms.type).largest;
      budget.jumps = find_jumps(exact, seen, usual);
      for (at::Tensor& result : seen.references) result = without_jumps(result, exact, budget.jumps);
      for (at::Tensor& result : seen.moved) result = without_jumps(result, exact, budget.jumps);
    }
    terms.references = std::move(seen.references);
    terms.moved = std::move(seen.moved);
    static_cast<Budget&>(budget) = budget_of(terms);
    // Derived inputs may honestly give a constant, so nobody asks there.
    if (distribution == Distribution::native)
      budget.varies = spread_of(exact) > varying_spread * budget.reference_max + smallest_normal;
    // Where the benchmark's tolerance decides, two runs may differ by it too.
    if (precision == PrecisionPolicy::paper) {
      budget.max = std::max(budget.max, paper_tolerance);
      return budget;
    }
    budget.relative = terms.floor_ulps + terms.storage();
    budget.slices = slice_budgets(terms);
    if (distribution == Distribution::native) look_for_hidden(budget, terms, index);
    return budget;
  }

  //! On the task's own inputs, large numbers must not hide in their budget what small ones are, nor what has nothing to
  //! do with the inputs. (On derived ones an honest program may be off everywhere by what the largest number costs: of
  //! inputs with one spike, a fast convolution is.)
  void look_for_hidden(OutputBudget& budget, const BudgetTerms& terms, std::size_t index) const {
    budget.parts = hidden_parts(terms, budget);
    if (index >= variation.size() || terms.exact.numel() < fewest_in_a_part) return;
    budget.limits = variation_limits(terms, budget, variation[index]);
    budget.rms = std::min(budget.rms, variation_limit(terms, budget, variation[index]));
  }

  OutputError compare_floating(const Expected& expected, const at::Tensor& given, std::size_t index) const {
    const at::Tensor candidate = beyond_what_was_seen(given, expected.oracle[index], expected.budgets[index].jumps);
    const ErrorSums sums = compare_with(expected.oracle[index], expected.reference[index], candidate);
    OutputError error;
    error.mismatches = sums.mismatches;
    error.max_error = sums.largest;
    error.rms_error = sums.root_mean_square();
    error.max_budget = expected.budgets[index].max;
    error.rms_budget = expected.budgets[index].rms;
    const OutputBudget& budget = expected.budgets[index];
    const at::Tensor& exact = expected.oracle[index];
    const at::ScalarType type = expected.reference[index].scalar_type();
    error.slice = worst_slice(budget.slices, candidate, exact, type);
    const SliceError limit = worst_limit(budget.limits, candidate, exact, type);
    if (limit.share() > error.slice.share()) error.slice = limit;
    error.part = worst_part(budget.parts, candidate, exact, type);
    return error;
  }

  // As the benchmark does it: |candidate - reference| <= 1e-2 + 1e-2 |reference|, as a share of that budget.
  OutputError compare_as_paper(const Expected& expected, const at::Tensor& candidate, std::size_t index) const {
    const at::Tensor reference = expected.reference[index].to(at::kDouble), value = candidate.to(at::kDouble);
    const at::Tensor same = same_numbers(reference, value);
    const at::Tensor finite = reference.isfinite().logical_and(value.isfinite());
    const at::Tensor shares =
        at::where(finite, (value - reference).abs() / (paper_tolerance + paper_tolerance * reference.abs()),
                  at::zeros({}, value.options()));
    OutputError error;
    error.mismatches = same.logical_or(finite).logical_not().sum().item<std::int64_t>();
    error.max_error = shares.numel() == 0 ? 0.0 : shares.max().item<double>();
    error.max_budget = 1.0;
    return error;
  }

  OutputError compare_integers(const Expected& expected, const at::Tensor& candidate, std::size_t index) const {
    OutputError error;
    error.mismatches = count_mismatches(expected.integers[index], candidate);
    return error;
  }

  const Task& task;
  PrecisionPolicy precision;
  std::vector<ValueFacts> facts;            // by value
  std::vector<ValueFacts> facts_of_result;  // of outputs, then states
  Perturbation perturbation;
  std::unique_ptr<Executor> oracle;
  std::vector<std::unique_ptr<Executor>> variants;
  std::function<void()> between_runs = [] {};
  std::vector<std::string> names;
  std::vector<Variation> variation;  // of results between native input sets; empty where nobody knows
};

MatchRule::MatchRule(const Task& task, at::Device device, PrecisionPolicy precision)
    : impl_(std::make_unique<Impl>(task, device, precision)) {}

MatchRule::~MatchRule() = default;

void MatchRule::between_runs(std::function<void()> call) { impl_->between_runs = std::move(call); }

void MatchRule::know_variation(std::vector<Variation> variation) { impl_->variation = std::move(variation); }

Expected MatchRule::expect(const TensorTable& leaves, Distribution distribution, std::uint64_t seed) const {
  Expected expected;
  expected.oracle = results_of(*impl_->oracle, leaves);
  std::vector<std::vector<at::Tensor>> references;
  for (const auto& variant : impl_->variants) {
    impl_->between_runs();
    references.push_back(results_of(*variant, leaves));
  }
  const auto draws = impl_->perturbed_oracles(leaves, distribution, seed);
  expected.reference = references[0];
  expected.budgets.resize(expected.oracle.size());
  expected.integers.resize(expected.oracle.size());
  for (std::size_t i = 0; i < expected.oracle.size(); ++i) {
    const at::Tensor& exact = expected.oracle[i];
    SeenResults seen{results_at(draws, i), results_at(references, i), makes_equal_terms(distribution)};
    if (!expected.reference[i].is_floating_point()) {
      expected.integers[i] = open_integers(exact, seen, impl_->facts_of_result[i]);
      continue;
    }
    const bool is_open = is_finite_by_chance(exact, seen);
    expected.budgets[i] = impl_->floating_budget(exact, std::move(seen), i, distribution);
    expected.budgets[i].is_open = is_open;
  }
  return expected;
}

std::vector<OutputError> MatchRule::compare(const Expected& expected, const std::vector<at::Tensor>& given,
                                            Distribution distribution) const {
  const std::vector<at::Tensor> candidate = where_compared(given);
  std::vector<OutputError> errors;
  for (std::size_t i = 0; i < expected.oracle.size(); ++i) {
    OutputError error =
        expected.budgets[i].is_open                  ? OutputError{}
        : !expected.reference[i].is_floating_point() ? impl_->compare_integers(expected, candidate[i], i)
        : impl_->precision == PrecisionPolicy::paper ? impl_->compare_as_paper(expected, candidate[i], i)
                                                     : impl_->compare_floating(expected, candidate[i], i);
    // Large numbers that differ little hide a constant in their budget. Derived inputs may honestly give one.
    error.constant = distribution == Distribution::native && expected.budgets[i].varies && is_constant(candidate[i]);
    error.output = impl_->names[i];
    error.distribution = to_string(distribution);
    errors.push_back(std::move(error));
  }
  return errors;
}

std::vector<at::Tensor> MatchRule::reference(const TensorTable& leaves) const {
  return results_of(*impl_->variants[0], leaves);
}

std::vector<at::Tensor> MatchRule::oracle(const TensorTable& leaves) const {
  return results_of(*impl_->oracle, leaves);
}

Closeness closeness(const at::Tensor& given, const at::Tensor& usual, const OutputBudget& budget) {
  const at::Tensor candidate = where_compared(given), reference = where_compared(usual);
  if (!candidate.is_floating_point()) return candidate.equal(reference) ? Closeness::surely : Closeness::no;
  if (!all_within(candidate, reference, budget.max)) return Closeness::no;
  return parts_surely_close(candidate, reference, budget) ? Closeness::surely : Closeness::on_the_whole;
}

bool agree(const at::Tensor& one, const at::Tensor& other, const OutputBudget& budget) {
  if (!one.is_floating_point()) return true;
  const at::Tensor first = where_compared(one), second = where_compared(other);
  const at::Tensor wide = first.to(at::kDouble), judged = without_jumps(second, first, budget.jumps);
  if (!all_within(judged, first, budget.max)) return false;
  return worst_slice(budget.slices, judged, wide, first.scalar_type()).share() <= 1.0;
}

}  // namespace cudal1
