#include "judge/match.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "judge/error_sums.hpp"
#include "judge/perturbation.hpp"
#include "judge/tensor_sample.hpp"
#include "judge/value_facts.hpp"

namespace cudal1 {
namespace {

constexpr int perturbation_draws = 3;
// Behind a step. An element that may fall on its other side is seen there by one draw of a pair, unless moves cancel,
// which they do not in the first pair.
constexpr int pairs_behind_steps = 8;
// PyTorch's error is one draw of many; of an output in 16 bits it is that output's own rounding, and no draw.
constexpr double reference_factor = 4.0, half_reference_factor = 2.0;
// The rounding errors of a walk whose partial sums are all as large as its result have a standard deviation of
// sqrt(K / 3) 2^-24 S, which is 0.29 of sqrt(K) 2^-23 S.
constexpr double rms_share = 0.5;
constexpr double varying_spread = 4.0;  // times the reference's error
constexpr std::int64_t fewest_to_vary = 16;
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

//! How many different numbers the tensor holds; of a large one, in a sample spread over it.
std::int64_t distinct_values(const at::Tensor& tensor) { return std::get<0>(at::_unique(sample_of(tensor))).numel(); }

//! By how much the root mean square of n numbers may exceed the expected one: three of its standard deviations.
double scatter_of(std::int64_t distinct) {
  return 1.0 + 3.0 / std::sqrt(2.0 * static_cast<double>(std::max<std::int64_t>(1, distinct)));
}

std::vector<at::Tensor> results_at(const std::vector<std::vector<at::Tensor>>& runs, std::size_t index) {
  std::vector<at::Tensor> results;
  for (const auto& run : runs) results.push_back(run[index]);
  return results;
}

//! The relative error of storing a number in the dtype where that is more than fp32's: half an ulp.
double storage_error(at::ScalarType type) {
  if (type == at::kHalf) return 0x1.0p-11;
  return type == at::kBFloat16 ? 0x1.0p-8 : 0.0;
}

//! The least root mean square of a sum's rounding errors that no honest program can be blamed for, twice over.
double rounding_of_sums(std::int64_t terms, double unit, double scale) {
  const double walk = std::sqrt(std::min(static_cast<double>(terms), longest_walk) / 3.0);
  return 2.0 * walk * 0.5 * unit * scale;
}

}  // namespace

struct MatchRule::Impl {
  Impl(const Task& task_, at::Device device, PrecisionPolicy precision_)
      : task(task_),
        precision(precision_),
        facts(facts_of(task_)),
        facts_of_result(facts_of_results(task_, facts)),
        perturbation(task, facts) {
    const auto make = [&](bool fp64, ReferenceVariant variant) {
      return std::make_unique<Executor>(task.graph, ExecutorOptions{device, fp64, variant, precision});
    };
    oracle = make(true, ReferenceVariant::standard);
    variants.push_back(make(false, ReferenceVariant::standard));
    variants.push_back(make(false, ReferenceVariant::deterministic));
    variants.push_back(make(false, ReferenceVariant::no_cudnn));
    if (device.is_cpu()) variants.push_back(make(false, ReferenceVariant::one_thread));
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
      for (int pair = 0; pair < pairs_behind_steps; ++pair)
        for (auto& draw : perturbation.run_both_ways(*oracle, leaves, distribution,
                                                     pair == 0 ? Directions::outward : Directions::never_zero, random))
          draws.push_back(std::move(draw));
    else
      for (int draw = 0; draw < perturbation_draws; ++draw)
        draws.push_back(perturbation.run(*oracle, leaves, distribution, random));
    return draws;
  }

  //! Elements behind a step are judged apart: one of them must not widen the budget of all.
  OutputBudget floating_budget(const at::Tensor& exact, SeenResults seen, const ValueFacts& known,
                               Distribution distribution) const {
    OutputBudget budget;
    const double growth = growth_of(known.terms, distribution);
    const at::ScalarType type = seen.references[0].scalar_type();
    const double unit = type == at::kDouble ? 0x1.0p-52 : 0x1.0p-23;
    const ErrorSums sizes = sizes_of(exact, type);
    if (known.jumps) {
      budget.jumps = find_jumps(exact, seen, (growth * unit + storage_error(type)) * sizes.largest);
      for (at::Tensor& result : seen.references) result = without_jumps(result, exact, budget.jumps);
      for (at::Tensor& result : seen.moved) result = without_jumps(result, exact, budget.jumps);
    }
    for (const at::Tensor& result : seen.references) {
      const ErrorSums errors = errors_of(result, exact, type);
      budget.reference_max = std::max(budget.reference_max, errors.largest);
      budget.reference_rms = std::max(budget.reference_rms, errors.root_mean_square());
    }
    double movement = 0.0;
    for (const at::Tensor& result : seen.moved) movement = std::max(movement, errors_of(result, exact, type).largest);
    budget.scale = sizes.largest;
    budget.movement = movement;
    budget.distinct = distinct_values(exact);
    // The last summand: hardware may flush every denormal term (atomics do).
    const double denormals = static_cast<double>(known.terms) * smallest_normal;
    budget.floor = std::max(growth * unit * budget.scale, movement) + denormals;
    const double storage = storage_error(type), scatter = scatter_of(budget.distinct);
    const double factor = storage > 0.0 ? half_reference_factor : reference_factor;
    budget.max = std::max(factor * budget.reference_max, budget.floor + storage * budget.scale);
    // A rounding that is off by at most h is off by h / sqrt(3) on average.
    const double rms_floor = rms_share * budget.floor + storage / std::sqrt(3.0) * sizes.root_mean_square();
    budget.rms = std::max(factor * budget.reference_rms, std::min(budget.max, rms_floor * scatter));
    // Where the benchmark's tolerance decides, two runs may differ by it too.
    if (precision == PrecisionPolicy::paper) {
      budget.max = std::max(budget.max, paper_tolerance);
      return budget;
    }
    budget.relative = growth * unit + storage;
    budget.slices = slice_budgets({.exact = exact,
                                   .references = std::move(seen.references),
                                   .moved = std::move(seen.moved),
                                   .type = type,
                                   .floor_ulps = growth * unit,
                                   .storage = storage,
                                   .denormals = denormals,
                                   .reference_factor = factor});
    return budget;
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
    if (const auto& slices = expected.budgets[index].slices; !slices.empty()) {
      const at::ScalarType type = expected.reference[index].scalar_type();
      error.slice = worst_slice(slices, candidate, expected.oracle[index], type);
    }
    return error;
  }

  // As the benchmark does it: |candidate - reference| <= 1e-2 + 1e-2 |reference|, as a share of that budget.
  OutputError compare_as_paper(const Expected& expected, const at::Tensor& candidate, std::size_t index) const {
    const at::Tensor reference = expected.reference[index].to(at::kDouble), value = candidate.to(at::kDouble);
    const at::Tensor same = reference.eq(value).logical_or(reference.isnan().logical_and(value.isnan()));
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

  //! On the task's own inputs. Large numbers that differ little hide in their budget what has nothing to do with the
  //! inputs; PyTorch, and the shortest way to round such sums, tell how well they can be told apart.
  void ask_for_variation(OutputBudget& budget, const at::Tensor& exact, std::size_t index, at::ScalarType type) const {
    budget.varies = spread_of(exact) > varying_spread * budget.reference_max + smallest_normal;
    if (index >= variation.size() || exact.numel() < fewest_to_vary || precision == PrecisionPolicy::paper) return;
    const double unit = type == at::kDouble ? 0x1.0p-52 : 0x1.0p-23;
    const double told_apart = reference_factor * budget.reference_rms;
    const double rounding = rounding_of_sums(facts_of_result[index].terms, unit, budget.scale);
    budget.rms = std::min(budget.rms, std::max({0.5 * variation[index], told_apart, rounding}));
  }

  const Task& task;
  PrecisionPolicy precision;
  std::vector<ValueFacts> facts;            // by value
  std::vector<ValueFacts> facts_of_result;  // of outputs, then states
  Perturbation perturbation;
  std::unique_ptr<Executor> oracle;
  std::vector<std::unique_ptr<Executor>> variants;
  std::vector<std::string> names;
  std::vector<double> variation;  // of results between native input sets; empty where nobody knows
};

MatchRule::MatchRule(const Task& task, at::Device device, PrecisionPolicy precision)
    : impl_(std::make_unique<Impl>(task, device, precision)) {}

MatchRule::~MatchRule() = default;

void MatchRule::know_variation(std::vector<double> variation) { impl_->variation = std::move(variation); }

Expected MatchRule::expect(const TensorTable& leaves, Distribution distribution, std::uint64_t seed) const {
  Expected expected;
  expected.oracle = results_of(*impl_->oracle, leaves);
  std::vector<std::vector<at::Tensor>> references;
  for (const auto& variant : impl_->variants) references.push_back(results_of(*variant, leaves));
  const auto draws = impl_->perturbed_oracles(leaves, distribution, seed);
  expected.reference = references[0];
  expected.budgets.resize(expected.oracle.size());
  expected.integers.resize(expected.oracle.size());
  for (std::size_t i = 0; i < expected.oracle.size(); ++i) {
    const at::Tensor& exact = expected.oracle[i];
    const ValueFacts& facts = impl_->facts_of_result[i];
    SeenResults seen{results_at(draws, i), results_at(references, i), makes_equal_terms(distribution)};
    if (!expected.reference[i].is_floating_point()) {
      expected.integers[i] = open_integers(exact, seen, facts);
      continue;
    }
    expected.budgets[i] = impl_->floating_budget(exact, std::move(seen), facts, distribution);
    // Derived inputs may honestly give a constant, so nobody asks there.
    if (distribution == Distribution::native)
      impl_->ask_for_variation(expected.budgets[i], exact, i, expected.reference[i].scalar_type());
  }
  return expected;
}

std::vector<OutputError> MatchRule::compare(const Expected& expected, const std::vector<at::Tensor>& candidate,
                                            Distribution distribution) const {
  std::vector<OutputError> errors;
  for (std::size_t i = 0; i < expected.oracle.size(); ++i) {
    OutputError error = !expected.reference[i].is_floating_point() ? impl_->compare_integers(expected, candidate[i], i)
                        : impl_->precision == PrecisionPolicy::paper
                            ? impl_->compare_as_paper(expected, candidate[i], i)
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

bool surely_close(const at::Tensor& candidate, const at::Tensor& reference, const OutputBudget& budget) {
  if (!candidate.is_floating_point()) return candidate.equal(reference);
  if (!all_within(candidate, reference, budget.max)) return false;
  return budget.relative == 0.0 || slices_surely_close(candidate, reference, budget.relative);
}

bool agree(const at::Tensor& first, const at::Tensor& second, const OutputBudget& budget) {
  if (!first.is_floating_point()) return true;
  const at::Tensor wide = first.to(at::kDouble), judged = without_jumps(second, first, budget.jumps);
  if (!all_within(judged, first, budget.max)) return false;
  return worst_slice(budget.slices, judged, wide, first.scalar_type()).share() <= 1.0;
}

}  // namespace cudal1
