#include "judge/perturbation.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "judge/operator_name.hpp"
#include "judge/result_unit.hpp"
#include "judge/ulp_moves.hpp"

namespace cudal1 {
namespace {

// What a formula of ordinary length may cost beside its sums, in ulp: two functions of 2 ulp each, as CUDA documents
// them for expf, tanhf, erff, rsqrtf and __fdividef, and four roundings of half an ulp.
constexpr double function_ulps = 6.0;
// The budget of a random walk stops growing here: sqrt(2^16) 2^-23 = 2^-15 is a sixteenth of TF32's ulp, and longer
// walks would come to hide operands that were rounded to it.
constexpr double longest_walk = 0x1.0p16;

//! Inputs near zero or equal to each other make the terms of sums equal, or as good as equal: f(x) is about f(0).
bool makes_equal_terms(Distribution distribution) {
  return distribution == Distribution::constant || distribution == Distribution::tiny ||
         distribution == Distribution::denormal;
}

//! The dimension that a node works along, else the last.
std::int64_t dimension_of(const Node& node) {
  const auto* given = argument_as<std::int64_t>(node, 1, "dim");
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

at::Tensor move_by(const at::Tensor& result, const at::Tensor& unit, DType dtype, double ulps, Random& random) {
  return random_directions(result, random.next()) * unit * (ulps * (dtype == DType::f64 ? 0x1.0p-52 : 0x1.0p-23));
}

}  // namespace

double growth_of(std::int64_t terms, Distribution distribution) {
  const double counted = std::min(static_cast<double>(terms), longest_walk);
  return function_ulps + (makes_equal_terms(distribution) ? counted : std::sqrt(counted));
}

std::vector<at::Tensor> results_of(const Executor& executor, const TensorTable& leaves, const ResultHook& hook) {
  ExecutionResult result = executor.run(leaves, hook);
  result.outputs.insert(result.outputs.end(), result.states.begin(), result.states.end());
  return std::move(result.outputs);
}

Perturbation::Perturbation(const Task& task, const std::vector<ValueFacts>& facts) : task_(task), facts_(facts) {
  for (const Node& node : task.graph.nodes)
    for (const ValueId id : OpGraph::reads(node)) read_by_nodes_.insert(id);
}

//! What makes a value is off by that much; and a sum that reads it is as good as the exact sum of terms that are.
double Perturbation::ulps_of(ValueId id, Distribution distribution) const {
  return growth_of(facts_[static_cast<std::size_t>(id)].nearest_terms, distribution);
}

std::vector<at::Tensor> Perturbation::run(const Executor& oracle, const TensorTable& leaves, Distribution distribution,
                                          Random& random) const {
  TensorTable moved = leaves;
  for (std::size_t id = 0; id < moved.size(); ++id)
    if (moved[id].defined() && !facts_[id].exact)
      moved[id] = moved_by_ulps(moved[id], ulps_of(static_cast<ValueId>(id), distribution), random.next());
  return results_of(oracle, moved, [&](const Node& node, const TensorTable& values, auto& results) {
    move_by_unit(node, values, results, distribution, random);
    move_intermediates(node, results, distribution, random);
  });
}

//! Functions whose usual formulas pass through numbers larger than their results move by ulps of the larger.
void Perturbation::move_by_unit(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                                Distribution distribution, Random& random) const {
  const ResultUnit unit = result_unit(node.op);
  const auto* argument = argument_as<ValueRef>(node, 0, "self");
  if (unit == ResultUnit::result || results.empty() || node.outputs.empty() || !argument || argument->id < 0) return;
  const ValueId id = node.outputs[0];
  at::Tensor& result = results[0];
  if (facts_[static_cast<std::size_t>(id)].exact || !result.is_floating_point()) return;
  const at::Tensor size = size_of_unit(unit, node, values[static_cast<std::size_t>(argument->id)], result);
  const DType dtype = task_.graph.values[static_cast<std::size_t>(id)].meta.dtype;
  const at::Tensor move = move_by(result, size, dtype, ulps_of(id, distribution), random);
  result = unit == ResultUnit::root ? (result.square() + move).clamp_min(0.0).sqrt() : result + move;
}

//! What other nodes read was rounded, as inputs are: a mean of equal numbers is not exactly one of them.
void Perturbation::move_intermediates(const Node& node, std::vector<at::Tensor>& results, Distribution distribution,
                                      Random& random) const {
  for (std::size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
    const ValueId id = node.outputs[i];
    const Value& value = task_.graph.values[static_cast<std::size_t>(id)];
    if (value.view || facts_[static_cast<std::size_t>(id)].exact || !read_by_nodes_.contains(id)) continue;
    if (!results[i].is_floating_point()) continue;
    results[i] =
        results[i] + move_by(results[i], results[i].abs(), value.meta.dtype, ulps_of(id, distribution), random);
  }
}

}  // namespace cudal1
