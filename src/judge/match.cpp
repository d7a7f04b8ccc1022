#include "judge/match.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.hpp"
#include "judge/error_sums.hpp"
#include "judge/reduction_length.hpp"
#include "judge/result_unit.hpp"
#include "judge/ulp_moves.hpp"

namespace cudal1 {
namespace {

constexpr int perturbation_draws = 3;
// PyTorch's error is one draw of many; of an output in 16 bits it is that output's own rounding, and no draw.
constexpr double reference_factor = 4.0, half_reference_factor = 2.0;
// What a formula of ordinary length may cost beside its sums, in ulp: two functions of 2 ulp each, as CUDA documents
// them for expf, tanhf, erff, rsqrtf and __fdividef, and four roundings of half an ulp.
constexpr double function_ulps = 6.0;
// The budget of a random walk stops growing here: sqrt(2^16) 2^-23 = 2^-15 is a sixteenth of TF32's ulp, and longer
// walks would come to hide operands that were rounded to it.
constexpr double longest_walk = 0x1.0p16;
// The rounding errors of a walk whose partial sums are all as large as its result have a standard deviation of
// sqrt(K / 3) 2^-24 S, which is 0.29 of sqrt(K) 2^-23 S.
constexpr double rms_share = 0.5;
constexpr double varying_spread = 4.0;          // times the reference's error
constexpr std::int64_t distinct_sample = 4099;  // a prime, so that its steps do not fall into step with rows
constexpr double paper_tolerance = 1e-2;
constexpr double smallest_normal = 0x1.0p-126;

std::vector<at::Tensor> results_of(const Executor& executor, const TensorTable& leaves, const ResultHook& hook = {}) {
  ExecutionResult result = executor.run(leaves, hook);
  result.outputs.insert(result.outputs.end(), result.states.begin(), result.states.end());
  return std::move(result.outputs);
}

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
std::int64_t distinct_values(const at::Tensor& tensor) {
  const at::Tensor all = tensor.reshape({-1});
  const std::int64_t step = std::max<std::int64_t>(1, all.numel() / distinct_sample);
  return std::get<0>(at::_unique(all.slice(0, 0, all.numel(), step))).numel();
}

//! The dimension that a node works along: its second argument, else the last.
std::int64_t dimension_of(const Node& node) {
  const auto* given = node.args.size() > 1 ? std::get_if<std::int64_t>(&node.args[1]) : nullptr;
  return given ? *given : -1;
}

//! What an ulp of the result is relative to, broadcastable to it.
at::Tensor size_of_unit(ResultUnit unit, const Node& node, const at::Tensor& argument, const at::Tensor& result) {
  if (unit == ResultUnit::one) return at::ones({}, result.options());
  if (unit == ResultUnit::argument) return argument.abs();
  if (unit == ResultUnit::gate) return argument.chunk(2, dimension_of(node))[0].abs();
  if (unit == ResultUnit::scan) return result.numel() == 0 ? result : result.abs().amax(dimension_of(node), true);
  // In one pass, variances are sums of squares about zero, or about an element of the data, usually the first, which
  // may well lie three deviations from the mean.
  return argument.square().mean() + 9.0 * argument.var();
}

const Value& value_of(const OpGraph& graph, ValueId id) { return graph.values[static_cast<std::size_t>(id)]; }

//! By how many of the units the result of a node in this dtype moves.
at::Tensor move_by(const at::Tensor& result, const at::Tensor& unit, DType dtype, double ulps, Random& random) {
  return random_directions(result, random.next()) * unit * (ulps * (dtype == DType::f64 ? 0x1.0p-52 : 0x1.0p-23));
}

//! Functions whose usual formulas pass through numbers larger than their results move by ulps of the larger.
void move_by_unit(const OpGraph& graph, const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                  double ulps, Random& random) {
  const ResultUnit unit = result_unit(node.op);
  const auto* argument = node.args.empty() ? nullptr : std::get_if<ValueRef>(&node.args[0]);
  if (unit == ResultUnit::result || results.empty() || node.outputs.empty() || !argument || argument->id < 0) return;
  at::Tensor& result = results[0];
  const at::Tensor size = size_of_unit(unit, node, values[static_cast<std::size_t>(argument->id)], result);
  const at::Tensor move = move_by(result, size, value_of(graph, node.outputs[0]).meta.dtype, ulps, random);
  result = unit == ResultUnit::root ? (result.square() + move).clamp_min(0.0).sqrt() : result + move;
}

//! What other nodes read was rounded, as inputs are: a mean of equal numbers is not exactly one of them.
void move_intermediates(const OpGraph& graph, const Node& node, const std::set<ValueId>& read_by_nodes,
                        std::vector<at::Tensor>& results, double ulps, Random& random) {
  for (std::size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
    const Value& value = value_of(graph, node.outputs[i]);
    if (value.view || !read_by_nodes.contains(node.outputs[i]) || !results[i].is_floating_point()) continue;
    results[i] = results[i] + move_by(results[i], results[i].abs(), value.meta.dtype, ulps, random);
  }
}

std::set<ValueId> values_read_by_nodes(const OpGraph& graph) {
  std::set<ValueId> read;
  for (const Node& node : graph.nodes)
    for (const ValueId id : OpGraph::reads(node)) read.insert(id);
  return read;
}

//! Inputs near zero or equal to each other make the terms of sums equal, or as good as equal: f(x) is about f(0).
bool makes_equal_terms(Distribution distribution) {
  return distribution == Distribution::constant || distribution == Distribution::tiny ||
         distribution == Distribution::denormal;
}

//! How many ulps of its largest value an honest program may be off. Rounding errors of many different terms cancel like
//! a random walk; those of equal terms all point one way, up to half an ulp for a term's product and for its addition.
double growth_of(double terms, Distribution distribution) {
  const double counted = std::min(terms, longest_walk);
  return function_ulps + (makes_equal_terms(distribution) ? counted : std::sqrt(counted));
}

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
    read_by_nodes = values_read_by_nodes(task.graph);
    for (const ValueId id : task.graph.outputs) names.push_back(name_of(id));
    for (const ValueId id : task.graph.states) names.push_back(name_of(id));
  }

  std::string name_of(ValueId id) const { return task.graph.values[static_cast<std::size_t>(id)].name; }

  //! The oracle with everything moved by as many ulps as an honest program may be off. Not by one ulp and the movement
  //! multiplied: the variance of equal numbers, say, grows with the square of their moves.
  std::vector<std::vector<at::Tensor>> perturbed_oracles(const TensorTable& leaves, double ulps,
                                                         std::uint64_t seed) const {
    Random random(seed);
    std::vector<std::vector<at::Tensor>> draws;
    for (int draw = 0; draw < perturbation_draws; ++draw) {
      TensorTable moved = leaves;
      for (at::Tensor& leaf : moved)
        if (leaf.defined()) leaf = moved_by_ulps(leaf, ulps, random.next());
      draws.push_back(results_of(*oracle, moved, [&](const Node& node, const TensorTable& values, auto& results) {
        move_by_unit(task.graph, node, values, results, ulps, random);
        move_intermediates(task.graph, node, read_by_nodes, results, ulps, random);
      }));
    }
    return draws;
  }

  OutputBudget floating_budget(const at::Tensor& exact, const std::vector<std::vector<at::Tensor>>& references,
                               const std::vector<std::vector<at::Tensor>>& draws, double growth,
                               std::size_t index) const {
    OutputBudget budget;
    const at::ScalarType type = references[0][index].scalar_type();
    for (const auto& results : references) {
      const ErrorSums errors = errors_of(results[index], exact, type);
      budget.reference_max = std::max(budget.reference_max, errors.largest);
      budget.reference_rms = std::max(budget.reference_rms, errors.root_mean_square());
    }
    double movement = 0.0;
    for (const auto& results : draws) movement = std::max(movement, errors_of(results[index], exact, type).largest);
    const ErrorSums sizes = sizes_of(exact, type);
    const double unit = type == at::kDouble ? 0x1.0p-52 : 0x1.0p-23;
    budget.scale = sizes.largest;
    budget.movement = movement;
    budget.distinct = distinct_values(exact);
    // The last summand: hardware may flush every denormal term (atomics do).
    budget.floor = std::max(growth * unit * budget.scale, movement) + static_cast<double>(reductions) * smallest_normal;
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
                                   .references = results_at(references, index),
                                   .moved = results_at(draws, index),
                                   .type = type,
                                   .floor_ulps = growth * unit,
                                   .storage = storage,
                                   .denormals = static_cast<double>(reductions) * smallest_normal,
                                   .reference_factor = factor});
    return budget;
  }

  OutputError compare_floating(const Expected& expected, const at::Tensor& candidate, std::size_t index) const {
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
  std::set<ValueId> read_by_nodes;
};

MatchRule::MatchRule(const Task& task, at::Device device, PrecisionPolicy precision)
    : impl_(std::make_unique<Impl>(task, device, precision)) {}

MatchRule::~MatchRule() = default;

Expected MatchRule::expect(const TensorTable& leaves, Distribution distribution, std::uint64_t seed) const {
  Expected expected;
  expected.oracle = results_of(*impl_->oracle, leaves);
  std::vector<std::vector<at::Tensor>> references;
  for (const auto& variant : impl_->variants) references.push_back(results_of(*variant, leaves));
  const double growth = growth_of(static_cast<double>(impl_->reductions), distribution);
  const auto draws = impl_->perturbed_oracles(leaves, growth, seed);
  expected.reference = references[0];
  for (std::size_t i = 0; i < expected.oracle.size(); ++i) {
    if (expected.reference[i].is_floating_point()) {
      OutputBudget budget = impl_->floating_budget(expected.oracle[i], references, draws, growth, i);
      // Derived inputs may honestly give a constant, so nobody asks there.
      if (distribution == Distribution::native)
        budget.varies = spread_of(expected.oracle[i]) > varying_spread * budget.reference_max + smallest_normal;
      expected.budgets.push_back(budget);
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
  return budget.slices.empty() || slices_surely_close(candidate, reference, budget.relative);
}

}  // namespace cudal1
