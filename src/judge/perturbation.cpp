#include "judge/perturbation.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/aten_call.hpp"
#include "graph/operator_name.hpp"
#include "judge/compared_place.hpp"
#include "judge/error_sums.hpp"
#include "judge/norm_groups.hpp"
#include "judge/operator_kinds.hpp"
#include "judge/reduction_length.hpp"
#include "judge/result_unit.hpp"
#include "judge/ulp_moves.hpp"

namespace cudal1 {
namespace {

// What a formula of ordinary length may cost beside its sums, in ulp: two functions of 2 ulp each, as CUDA documents
// them for expf, tanhf, erff, rsqrtf and __fdividef, and four roundings of half an ulp.
constexpr double function_ulps = 6.0;

//! The dimension that a node works along, else the last.
std::int64_t dimension_of(const Node& node) {
  const auto* given = argument_as<std::int64_t>(node, 1, "dim");
  return given ? *given : -1;
}

// An element of the data may well lie three deviations from the mean.
constexpr double shifted_variances = 9.0;

//! What variances over some dimensions (all, where none is named) are sums of, in one pass: squares about zero, or
//! about an element of the data, usually the first, which may be an outlier.
at::Tensor squares_in_one_pass(const at::Tensor& values, std::vector<std::int64_t> dimensions) {
  if (dimensions.empty()) {
    dimensions.resize(static_cast<std::size_t>(values.dim()));
    std::iota(dimensions.begin(), dimensions.end(), 0);
  }
  at::Tensor first = values;
  for (const std::int64_t d : dimensions) first = first.narrow(d, 0, 1);
  const at::Tensor shift = (first - values.mean(dimensions, true)).square();
  return values.square().mean(dimensions, true) +
         at::maximum(shifted_variances * values.var(dimensions, false, true), shift);
}

//! What an ulp of the result is relative to, as Moves::sizes.
at::Tensor size_of_unit(ResultUnit unit, const Node& node, const at::Tensor& argument, const at::Tensor& result) {
  if (unit == ResultUnit::one) return {};
  if (unit == ResultUnit::argument) return argument;
  if (unit == ResultUnit::gate) return argument.chunk(2, dimension_of(node))[0];
  if (unit == ResultUnit::scan)
    return result.numel() == 0 ? result : finite_or_zero(result).abs_().amax(dimension_of(node), true);
  if (argument.numel() == 0) return result;
  const auto* dimensions = argument_as<std::vector<std::int64_t>>(node, 1, "dim");
  return squares_in_one_pass(finite_or_zero(argument), dimensions ? *dimensions : std::vector<std::int64_t>())
      .reshape(result.sizes());
}

//! What a norm gives before its bias is added.
at::Tensor without_bias(const Node& node, const TensorTable& values, const at::Tensor& result) {
  const auto* read = argument_as<ValueRef>(node, bias_position(node), "bias");
  if (!read || read->id < 0) return result;
  at::Tensor bias = values[static_cast<std::size_t>(read->id)].to(result.scalar_type());
  if (base_name(node.op).find("layer_norm") == std::string_view::npos) {  // by channel
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(result.dim()), 1);
    sizes.at(1) = -1;
    bias = bias.view(sizes);
  }
  return result - bias;
}

//! What a norm divides by, group by group, and what that is computed from in one pass.
struct NormSums {
  at::Tensor variance, squares;
};

NormSums sums_of_norm(const NormGroups& groups, const at::Tensor& argument) {
  const at::Tensor values = finite_or_zero(argument).reshape(groups.sizes);
  return {values.var(groups.dimensions, false, true), squares_in_one_pass(values, groups.dimensions)};
}

//! A variance that is off by a share of itself takes half of that share off what it divides.
at::Tensor size_of_norm(const NormGroups& groups, const NormSums& sums, const at::Tensor& result) {
  const at::Tensor enlarged = sums.squares / (sums.variance + groups.epsilon);
  return (result.reshape(groups.sizes) * (0.5 * enlarged)).reshape(result.sizes());
}

//! What a running variance is moved by for each channel: it takes up its share of each new one.
at::Tensor size_of_running_variance(const Node& node, const at::Tensor& squares, const at::Tensor& running) {
  const auto* momentum = argument_as<double>(node, 6, "momentum");
  return squares.reshape({-1, running.numel()}).mean(0) * (momentum ? *momentum : 1.0);
}

//! The running variance that a norm updates; -1 where it has none.
ValueId running_variance_of(const Node& node) {
  const auto* read = argument_as<ValueRef>(node, 4, "running_var");
  const bool is_written = read && std::ranges::find(node.writes_state, read->id) != node.writes_state.end();
  return is_written ? read->id : -1;
}

// Times what the sums of products are off by.
constexpr double transform_growth = 2.0;
// Two such numbers are multiplied once, and their product is added and taken off again.
constexpr double roundings_of_the_largest = 4.0;

//! How far whole numbers are exact.
double counts_to(DType dtype) {
  if (dtype == DType::f64) return 0x1.0p53;
  if (dtype == DType::f16) return 0x1.0p11;
  return dtype == DType::bf16 ? 0x1.0p8 : 0x1.0p24;
}

// Up to this size a number for all elements is written out for each of them, so that nobody waits for it.
constexpr std::int64_t most_spread_out = 1 << 24;

//! Of what is finite.
double largest_in(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kDouble) return sizes_of(tensor, at::kDouble).largest;
  return tensor.numel() == 0 ? 0.0 : finite_or_zero(tensor).abs().max().item<double>();
}

}  // namespace

bool makes_equal_terms(Distribution distribution) {
  return distribution == Distribution::constant || distribution == Distribution::tiny ||
         distribution == Distribution::denormal;
}

double growth_of(std::int64_t terms, Distribution distribution) {
  const double counted = std::min(static_cast<double>(terms), longest_walk);
  return function_ulps + (makes_equal_terms(distribution) ? counted : std::sqrt(counted));
}

std::vector<at::Tensor> results_of(const Executor& executor, const TensorTable& leaves, const ResultHook& hook) {
  ExecutionResult result = executor.run(leaves, hook);
  result.outputs.insert(result.outputs.end(), result.states.begin(), result.states.end());
  return where_compared(std::move(result.outputs));
}

Perturbation::Perturbation(const Task& task, const std::vector<ValueFacts>& facts) : task_(task), facts_(facts) {
  for (const Node& node : task.graph.nodes) {
    for (const ValueId id : OpGraph::reads(node)) read_by_nodes_.insert(id);
    if (const auto variance = written_variance(task.graph, node)) {
      variances_.emplace(node.outputs[0], *variance);
      arguments_of_variances_.insert(variance->argument);
    }
  }
}

struct Perturbation::Draw {
  Distribution distribution;
  Random random;
  double direction;  //!< 1, or -1 for the other way
  Directions directions = Directions::thirds;
  std::map<ValueId, at::Tensor> kept{};  //!< what variances are of: the executor lets it go before

  at::Tensor moved(const at::Tensor& tensor, const Moves& moves) {
    return moved_by(tensor, moves, random.next(), directions);
  }
};

//! What makes a value is off by that much; and a sum that reads it is as good as the exact sum of terms that are.
double Perturbation::ulps_of(ValueId id, const Draw& draw) const {
  return draw.direction * growth_of(facts_[static_cast<std::size_t>(id)].nearest_terms, draw.distribution);
}

double Perturbation::ulp_of_value(ValueId id) const {
  return ulp_of(to_scalar_type(task_.graph.values[static_cast<std::size_t>(id)].meta.dtype));
}

std::vector<at::Tensor> Perturbation::run(const Executor& oracle, const TensorTable& leaves, Distribution distribution,
                                          Random& random) const {
  Draw draw{distribution, random.fork(), 1.0};
  return run(oracle, leaves, draw);
}

std::array<std::vector<at::Tensor>, 2> Perturbation::run_both_ways(const Executor& oracle, const TensorTable& leaves,
                                                                   Distribution distribution, Directions directions,
                                                                   Random& random) const {
  const Random seeds = random.fork();
  Draw there{distribution, seeds, 1.0, directions}, back{distribution, seeds, -1.0, directions};
  return {run(oracle, leaves, there), run(oracle, leaves, back)};
}

std::vector<at::Tensor> Perturbation::run(const Executor& oracle, const TensorTable& leaves, Draw& draw) const {
  TensorTable moved = leaves;
  for (std::size_t id = 0; id < moved.size(); ++id)
    if (moved[id].defined() && !facts_[id].exact)
      moved[id] =
          moved_by_ulps(moved[id], ulps_of(static_cast<ValueId>(id), draw), draw.random.next(), draw.directions);
  return results_of(oracle, moved, [&](const Node& node, const TensorTable& values, auto& results) {
    for (const ValueId id : OpGraph::reads(node))
      if (arguments_of_variances_.contains(id)) draw.kept[id] = values[static_cast<std::size_t>(id)];
    move_by_unit(node, values, results, draw);
    move_product(node, values, results, draw);
    move_convolution(node, values, results, draw);
    move_written_variance(node, values, results, draw);
    move_intermediates(node, values, results, draw);
  });
}

//! Whole numbers are, as long as no sum of them can outgrow what their dtype counts to.
bool Perturbation::is_exact(const Node& node, ValueId id, const TensorTable& values, const at::Tensor& result) const {
  const ValueFacts& facts = facts_[static_cast<std::size_t>(id)];
  if (!facts.exact || !result.is_floating_point()) return facts.exact;
  const double limit = counts_to(task_.graph.values[static_cast<std::size_t>(id)].meta.dtype);
  if (largest_in(result) > limit) return false;
  double partial = static_cast<double>(terms_of(task_.graph, node));
  if (partial < 2.0) return true;
  for (const ValueId read : OpGraph::reads(node))
    if (const at::Tensor& value = values[static_cast<std::size_t>(read)]; value.is_floating_point())
      partial *= std::max(1.0, largest_in(value));
  return partial <= limit;
}

//! Functions whose usual formulas pass through numbers larger than their results move by ulps of the larger.
void Perturbation::move_by_unit(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                                Draw& draw) const {
  const ResultUnit unit = result_unit(node.op);
  const auto* read = argument_as<ValueRef>(node, 0, "self");
  if (unit == ResultUnit::result || results.empty() || node.outputs.empty() || !read || read->id < 0) return;
  const ValueId id = node.outputs[0];
  at::Tensor& result = results[0];
  if (facts_[static_cast<std::size_t>(id)].exact || !result.is_floating_point()) return;
  const at::Tensor& argument = values[static_cast<std::size_t>(read->id)];
  const double ulps = ulps_of(id, draw) * ulp_of_value(id);
  if (unit == ResultUnit::norm) return move_norm(node, values, argument, result, ulps, draw);
  const Moves moves{ulps, size_of_unit(unit, node, argument, result)};
  if (unit == ResultUnit::root)
    result = draw.moved(result.square(), moves).clamp_min_(0.0).sqrt_();
  else
    result = draw.moved(result, moves);
}

//! And with its result the running variance that it updates.
void Perturbation::move_norm(const Node& node, const TensorTable& values, const at::Tensor& argument,
                             at::Tensor& result, double ulps, Draw& draw) const {
  const auto groups = norm_groups(node, argument);
  if (!groups || argument.numel() == 0) return;
  const NormSums sums = sums_of_norm(*groups, argument);
  const at::Tensor scaled = without_bias(node, values, result);
  result = draw.moved(result, {ulps, size_of_norm(*groups, sums, scaled), scaled});
  if (const ValueId state = running_variance_of(node); state >= 0) {
    const at::Tensor& running = values[static_cast<std::size_t>(state)];
    const at::Tensor sizes = size_of_running_variance(node, sums.squares, running);
    running.copy_(draw.moved(running, {ulps, sizes})).clamp_min_(0.0);
  }
}

//! The transforms of fast convolutions in two dimensions (Winograd's for 4 x 4 results) enlarge errors, everywhere.
void Perturbation::move_convolution(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                                    Draw& draw) const {
  if (base_name(node.op).find("conv") == std::string_view::npos || results.empty()) return;
  const auto* weight = argument_as<ValueRef>(node, 1, "weight");
  if (!weight || weight->id < 0 || !results[0].is_floating_point() || results[0].numel() == 0) return;
  const auto window = values[static_cast<std::size_t>(weight->id)].sizes();
  if (window.size() < 4 || std::ranges::count_if(window.slice(2), [](auto size) { return size >= 3; }) < 2) return;
  const ValueId id = node.outputs.at(0);
  const double ulps = transform_growth * ulps_of(id, draw) * ulp_of_value(id);
  results[0] = results[0].numel() <= most_spread_out
                   ? draw.moved(results[0], {ulps, finite_or_zero(results[0]).abs().max()})
                   : draw.moved(results[0], {ulps * largest_in(results[0])});
}

//! Fast algorithms add rows and columns up before they multiply. Of derived inputs, large numbers may meet there that
//! do not meet in the result (spikes; equal numbers of a large row and a small one), which then loses what their
//! product is rounded by. On native ones that would hide what small rows and columns are.
void Perturbation::move_product(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                                Draw& draw) const {
  const std::string_view op = base_name(node.op);
  if (draw.distribution == Distribution::native || !multiplies_matrices(op) || results.empty()) return;
  const ValueId id = node.outputs.at(0);
  if (facts_[static_cast<std::size_t>(id)].exact || !results[0].is_floating_point()) return;
  const std::size_t first = op.starts_with("add") || op.starts_with("badd") ? 1 : 0;
  double largest = 1.0;
  for (const std::size_t position : {first, first + 1})
    if (const auto* read = argument_as<ValueRef>(node, position, ""); read && read->id >= 0)
      largest *= largest_in(values[static_cast<std::size_t>(read->id)]);
  const double ulps = draw.direction * roundings_of_the_largest * ulp_of_value(id);
  results[0] = draw.moved(results[0], {ulps * largest});
}

//! As an operator for variances moves.
void Perturbation::move_written_variance(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                                         Draw& draw) const {
  const auto found = node.outputs.empty() ? variances_.end() : variances_.find(node.outputs[0]);
  if (found == variances_.end()) return;
  const WrittenVariance& variance = found->second;
  const at::Tensor& squares = values[static_cast<std::size_t>(OpGraph::reads(node)[0])];
  const at::Tensor argument = finite_or_zero(draw.kept.at(variance.argument));
  if (argument.numel() != squares.numel() || argument.numel() == 0) return;
  at::Tensor sizes =
      squares_in_one_pass(argument.reshape(squares.sizes()), variance.dimensions).reshape(results[0].sizes());
  if (variance.is_sum) sizes = sizes * (static_cast<double>(squares.numel()) / static_cast<double>(results[0].numel()));
  const double ulps = ulps_of(found->first, draw) * ulp_of_value(found->first);
  results[0] = draw.moved(results[0], {ulps, sizes}).clamp_min_(0.0);
}

//! What other nodes read was rounded, as inputs are: a mean of equal numbers is not exactly one of them.
void Perturbation::move_intermediates(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                                      Draw& draw) const {
  for (std::size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
    const ValueId id = node.outputs[i];
    const Value& value = task_.graph.values[static_cast<std::size_t>(id)];
    if (value.view || !results[i].is_floating_point() || !read_by_nodes_.contains(id)) continue;
    if (is_exact(node, id, values, results[i])) continue;
    const double ulps = ulps_of(id, draw) * ulp_of_value(id);
    results[i] = draw.moved(results[i], {ulps, results[i]});
  }
}

}  // namespace cudal1
