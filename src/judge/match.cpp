#include "judge/match.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "graph/generator.hpp"
#include "judge/reduction_length.hpp"

namespace cudal1 {
namespace {

constexpr int perturbation_draws = 3;
constexpr double reference_factor = 4.0;
constexpr std::int64_t longest_counted_reduction = 1024;
constexpr double paper_tolerance = 1e-2;
constexpr double smallest_normal = 0x1.0p-126;

std::vector<at::Tensor> results_of(const Executor& executor, const TensorTable& leaves) {
  ExecutionResult result = executor.run(leaves);
  result.outputs.insert(result.outputs.end(), result.states.begin(), result.states.end());
  return std::move(result.outputs);
}

//! The largest element, 0 for none.
double largest(const at::Tensor& tensor) { return tensor.numel() == 0 ? 0.0 : tensor.max().item<double>(); }

double root_mean_square(const at::Tensor& errors, const at::Tensor& counted) {
  const double count = counted.sum().item<double>();
  return count == 0.0 ? 0.0 : std::sqrt(errors.square().sum().item<double>() / count);
}

//! |a - b| where both are finite, 0 elsewhere.
at::Tensor finite_difference(const at::Tensor& a, const at::Tensor& b, const at::Tensor& counted) {
  return at::where(counted, (a - b).abs(), at::zeros({}, a.options()));
}

//! Where the oracle stays finite in the output's own dtype.
at::Tensor finite_in(const at::Tensor& oracle, at::ScalarType type) { return oracle.to(type).isfinite(); }

//! Every floating element times 1 + r 2^-23 with r of -1, 0, 1 (2^-52 for f64), and denormals by a whole ulp. Half
//! types too move by an ulp of fp32, since honest programs compute in fp32 whatever they store.
at::Tensor moved_by_an_ulp(const at::Tensor& tensor, std::uint64_t seed) {
  if (!tensor.is_floating_point()) return tensor;
  const bool is_double = tensor.scalar_type() == at::kDouble;
  const at::Tensor wide = tensor.to(at::kDouble);
  at::Tensor direction = at::empty(wide.sizes(), wide.options());
  direction.random_(0, 3, make_generator(wide.device(), seed)).sub_(1.0);
  const double relative = is_double ? 0x1.0p-52 : 0x1.0p-23;
  const double absolute = is_double ? 0x1.0p-1074 : 0x1.0p-149;
  return wide + direction * (wide.abs() * relative + absolute);
}

}  // namespace

struct MatchRule::Impl {
  Impl(const Task& task_, at::Device device, PrecisionPolicy precision_)
      : task(task_), precision(precision_), reductions(longest_reduction(task_.graph)) {
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

  std::vector<std::vector<at::Tensor>> perturbed_oracles(const TensorTable& leaves, std::uint64_t seed) const {
    Random random(seed);
    std::vector<std::vector<at::Tensor>> draws;
    for (int draw = 0; draw < perturbation_draws; ++draw) {
      TensorTable moved = leaves;
      for (at::Tensor& leaf : moved)
        if (leaf.defined()) leaf = moved_by_an_ulp(leaf, random.next());
      draws.push_back(results_of(*oracle, moved));
    }
    return draws;
  }

  OutputBudget floating_budget(const at::Tensor& exact, const std::vector<std::vector<at::Tensor>>& references,
                               const std::vector<std::vector<at::Tensor>>& draws, Distribution distribution,
                               std::size_t index) const {
    OutputBudget budget;
    const at::Tensor finite = finite_in(exact, references[0][index].scalar_type());
    for (const auto& results : references) {
      const at::Tensor result = results[index].to(at::kDouble);
      const at::Tensor counted = finite.logical_and(result.isfinite());
      const at::Tensor errors = finite_difference(result, exact, counted);
      budget.reference_max = std::max(budget.reference_max, largest(errors));
      budget.reference_rms = std::max(budget.reference_rms, root_mean_square(errors, counted));
    }
    double movement = 0.0;
    for (const auto& results : draws)
      movement = std::max(
          movement, largest(finite_difference(results[index], exact, finite.logical_and(results[index].isfinite()))));
    const double scale = largest(at::where(finite, exact.abs(), at::zeros({}, exact.options())));
    const bool is_double = references[0][index].scalar_type() == at::kDouble;
    const double unit = is_double ? 0x1.0p-52 : 0x1.0p-23;
    const double terms = static_cast<double>(std::min(reductions, longest_counted_reduction));
    // Rounding errors of many different terms cancel like a random walk; those of equal terms all point one way. And
    // hardware may flush every denormal term (atomics do).
    const double growth = distribution == Distribution::constant ? terms : std::sqrt(terms);
    budget.floor = growth * std::max(unit * scale, movement) + terms * smallest_normal;
    budget.max = std::max(reference_factor * budget.reference_max, budget.floor);
    budget.rms = std::max(reference_factor * budget.reference_rms, budget.floor / 4.0);
    return budget;
  }

  OutputError compare_floating(const Expected& expected, const at::Tensor& candidate, std::size_t index) const {
    const at::Tensor& exact = expected.oracle[index];
    const at::Tensor& reference = expected.reference[index];
    const at::Tensor cast = exact.to(reference.scalar_type());
    const at::Tensor value = candidate.to(at::kDouble);
    // Only the reference is not finite: either passes. The oracle is not: the candidate must be the same.
    const at::Tensor finite = cast.isfinite();
    const at::Tensor excused =
        finite.logical_and(reference.isfinite().logical_not()).logical_and(value.isfinite().logical_not());
    const at::Tensor same_special = cast.isnan().logical_and(candidate.isnan()).logical_or(cast.eq(candidate));
    const at::Tensor bad =
        at::where(finite, value.isfinite().logical_or(excused).logical_not(), same_special.logical_not());
    const at::Tensor counted = finite.logical_and(value.isfinite());
    const at::Tensor errors = finite_difference(value, exact, counted);
    OutputError error;
    error.mismatches = bad.sum().item<std::int64_t>();
    error.max_error = largest(errors);
    error.rms_error = root_mean_square(errors, counted);
    error.max_budget = expected.budgets[index].max;
    error.rms_budget = expected.budgets[index].rms;
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
    error.max_error = largest(shares);
    error.max_budget = 1.0;
    return error;
  }

  OutputError compare_integers(const Expected& expected, const at::Tensor& candidate, std::size_t index) const {
    // A bool that holds 255 is not true; compare the bytes.
    const at::Tensor value = candidate.scalar_type() == at::kBool ? candidate.view(at::kByte) : candidate;
    const at::Tensor exact = expected.oracle[index].to(value.scalar_type());
    OutputError error;
    error.mismatches = value.ne(exact).logical_and(expected.undecided[index].logical_not()).sum().item<std::int64_t>();
    return error;
  }

  const Task& task;
  PrecisionPolicy precision;
  std::int64_t reductions;
  std::unique_ptr<Executor> oracle;
  std::vector<std::unique_ptr<Executor>> variants;
  std::vector<std::string> names;
};

MatchRule::MatchRule(const Task& task, at::Device device, PrecisionPolicy precision)
    : impl_(std::make_unique<Impl>(task, device, precision)) {}

MatchRule::~MatchRule() = default;

Expected MatchRule::expect(const TensorTable& leaves, Distribution distribution, std::uint64_t seed) const {
  Expected expected;
  expected.oracle = results_of(*impl_->oracle, leaves);
  std::vector<std::vector<at::Tensor>> references;
  for (const auto& variant : impl_->variants) references.push_back(results_of(*variant, leaves));
  const auto draws = impl_->perturbed_oracles(leaves, seed);
  expected.reference = references[0];
  for (std::size_t i = 0; i < expected.oracle.size(); ++i) {
    if (expected.reference[i].is_floating_point()) {
      expected.budgets.push_back(impl_->floating_budget(expected.oracle[i], references, draws, distribution, i));
      expected.undecided.emplace_back();
      continue;
    }
    at::Tensor undecided = at::zeros(expected.oracle[i].sizes(), expected.oracle[i].options().dtype(at::kBool));
    for (const auto& results : draws) undecided.logical_or_(results[i].ne(expected.oracle[i]));
    expected.undecided.push_back(undecided);
    expected.budgets.emplace_back();
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

bool surely_close(const at::Tensor& candidate, const at::Tensor& reference, double budget) {
  if (!candidate.is_floating_point()) return candidate.equal(reference);
  const at::Tensor a = candidate.to(at::kDouble), b = reference.to(at::kDouble);
  return (a - b).abs().le(budget).logical_or(a.eq(b)).all().item<bool>();
}

}  // namespace cudal1
