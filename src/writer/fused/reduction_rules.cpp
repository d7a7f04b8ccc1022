#include "writer/fused/reduction_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/operator_name.hpp"
#include "writer/fused/loss_rules.hpp"
#include "writer/fused/reduced.hpp"

namespace cudal1 {
namespace {

constexpr auto real = ScalarKind::real;
constexpr auto integer = ScalarKind::integer;

//! Sum, Product, Max, Min; the dimensions are argument 1 unless the first overload has a dtype there.
OperatorRule plain(std::string operation) {
  return [operation = std::move(operation)](const RuleCall& call) {
    const ScalarKind kind = call.result_kind() == ScalarKind::boolean ? integer : call.result_kind();
    const Reduced reduced = reduced_point(call, 1);
    return call.lowering.reduce(kind, typed(operation, kind), {element(call, reduced, kind)}, reduced.loops);
  };
}

int mean(const RuleCall& call) {
  const Reduced reduced = reduced_point(call, 1);
  return divided(call, sum_of(call, element(call, reduced, real), reduced), static_cast<double>(reduced.count));
}

//! Where along a dimension, or in all of the tensor, the element lies.
Affine place_in_loops(const RuleCall& call, const TensorMeta& meta, const Reduced& reduced,
                      const std::vector<bool>& dims) {
  Affine place;
  std::int64_t inside = 1;
  for (std::size_t dim = meta.sizes.size(); dim-- > 0;) {
    if (!dims[dim]) continue;
    place.add(reduced.point[dim], inside);
    inside *= meta.sizes[dim];
  }
  if (inside >= std::int64_t{1} << 31) call.lowering.refuse(call.node, "looks for a place among 2^31 elements");
  return place;
}

//! ArgMax or ArgMin: the pair of an element and its place.
int best_of(const RuleCall& call, std::string_view operation) {
  const TensorMeta& meta = meta_of(call, 0, "self");
  const std::vector<bool> dims = reduced_dims(call, 1, meta.sizes.size());
  const Reduced reduced = reduced_point(call, meta, dims);
  const ScalarKind kind = meta.dtype == DType::boolean ? integer : scalar_kind(meta.dtype);
  const int place = call.lowering.position(place_in_loops(call, meta, reduced, dims));
  return call.lowering.reduce(kind, typed(operation, kind), {element(call, reduced, kind), place}, reduced.loops);
}

//! max and min: of all elements, or along a dimension with the place as second result.
OperatorRule extremum(std::string operation, std::string arg_operation) {
  return [operation = std::move(operation), arg_operation = std::move(arg_operation)](const RuleCall& call) {
    if (call.node.outputs.size() < 2) return plain(operation)(call);
    const int best = best_of(call, arg_operation);
    if (call.value.output == 1) return call.lowering.map(integer, "{0}.index", {best});
    return call.lowering.map(call.result_kind(), "{0}.value", {best});
  };
}

OperatorRule place_of_extremum(std::string operation) {
  return [operation = std::move(operation)](const RuleCall& call) {
    return call.lowering.map(integer, "{0}.index", {best_of(call, operation)});
  };
}

int log_sum_exp(const RuleCall& call) {
  const Reduced reduced = reduced_point(call, 1);
  const int both = call.lowering.reduce(real, typed("LogSumExp", real), {element(call, reduced, real)}, reduced.loops);
  return call.lowering.map(real, "cudal1::LogSumExp<float>::log_sum_exp({0})", {both});
}

//! Along one dimension of a result that has all of them.
Reduced along(const RuleCall& call) {
  std::vector<bool> dims = reduced_dims(call, 1, call.point.size());
  return reduced_point(call, call.value.meta, dims);
}

OperatorRule softmax(bool logarithm) {
  return [logarithm](const RuleCall& call) {
    const Reduced reduced = along(call);
    const int both =
        call.lowering.reduce(real, typed("LogSumExp", real), {element(call, reduced, real)}, reduced.loops);
    const int x = call.operand(0, "self", real);
    if (logarithm) return call.lowering.map(real, "cudal1::difference({0}, {1}.maximum) - logf({1}.sum)", {x, both});
    return call.lowering.map(real, "expf(cudal1::difference({0}, {1}.maximum)) / {1}.sum", {x, both});
  };
}

//! var and std; var_mean and std_mean have the mean as second result. The first overload has no dimensions.
OperatorRule spread(bool root) {
  return [root](const RuleCall& call) {
    const bool dims_first = call.node.op.find('.') != std::string::npos;
    const auto* unbiased = argument_as<bool>(call.node, dims_first ? 2 : 1, "unbiased");
    const double correction = unbiased ? (*unbiased ? 1.0 : 0.0) : call.number(99, "correction", 1.0);
    const TensorMeta& meta = meta_of(call, 0, "self");
    std::vector<bool> dims(meta.sizes.size(), true);
    if (dims_first) dims = reduced_dims(call, 1, meta.sizes.size());
    const Reduced reduced = reduced_point(call, meta, dims);
    const int seen = moments(call, reduced);
    if (call.value.output == 1) return call.lowering.map(real, "{0}.mean", {seen});
    const int var = variance(call, seen, reduced, correction);
    return root ? call.lowering.map(real, "sqrtf({0})", {var}) : var;
  };
}

int vector_norm(const RuleCall& call) {
  const double order = call.number(1, "ord", 2.0);
  const Reduced reduced = reduced_point(call, 2);
  Lowering& lowering = call.lowering;
  const int size = lowering.map(real, "fabsf({0})", {element(call, reduced, real)});
  const auto reduce = [&](std::string_view operation, int term) {
    return lowering.reduce(real, typed(operation, real), {term}, reduced.loops);
  };
  if (std::isinf(order)) return reduce(order > 0 ? "Max" : "Min", size);
  if (order == 0.0) return reduce("Sum", lowering.map(real, "{0} != 0.0f ? 1.0f : 0.0f", {size}));
  if (order == 1.0) return reduce("Sum", size);
  if (order == 2.0) return lowering.map(real, "sqrtf({0})", {reduce("Sum", lowering.map(real, "{0} * {0}", {size}))});
  const int power = lowering.constant(real, order), inverse = lowering.constant(real, 1.0 / order);
  return lowering.map(real, "powf({0}, {1})",
                      {reduce("Sum", lowering.map(real, "powf({0}, {1})", {size, power})), inverse});
}

int frobenius_norm(const RuleCall& call) {
  const Reduced reduced = reduced_point(call, 1);
  const int x = element(call, reduced, real);
  return call.lowering.map(real, "sqrtf({0})", {sum_of(call, call.lowering.map(real, "{0} * {0}", {x}), reduced)});
}

//! any and all
OperatorRule truth(std::string operation) {
  return [operation = std::move(operation)](const RuleCall& call) {
    const Reduced reduced = reduced_point(call, 1);
    const int x = element(call, reduced, ScalarKind::boolean);
    return call.lowering.reduce(ScalarKind::boolean, operation, {x}, reduced.loops);
  };
}

int count_nonzero(const RuleCall& call) {
  const Reduced reduced = reduced_point(call, 1);
  const int one = call.lowering.as(integer, element(call, reduced, ScalarKind::boolean));
  return call.lowering.reduce(integer, typed("Sum", integer), {one}, reduced.loops);
}

//! The least, then the largest.
int aminmax(const RuleCall& call) {
  const auto* dim = argument_as<std::int64_t>(call.node, 99, "dim");
  const TensorMeta& meta = meta_of(call, 0, "self");
  std::vector<bool> dims(meta.sizes.size(), dim == nullptr);
  if (dim != nullptr && !dims.empty())
    dims[static_cast<std::size_t>(*dim < 0 ? *dim + std::int64_t(dims.size()) : *dim)] = true;
  const Reduced reduced = reduced_point(call, meta, dims);
  const ScalarKind kind = call.result_kind() == ScalarKind::boolean ? integer : call.result_kind();
  return call.lowering.reduce(kind, typed(call.value.output == 0 ? "Min" : "Max", kind), {element(call, reduced, kind)},
                              reduced.loops);
}

//! (x - mean) / sqrt(variance + eps) · weight + bias; the last two at an index of theirs.
struct Normalised {
  int x, moments;
  std::int64_t count;
  double eps;
  std::optional<int> weight, bias;
};

int normalised(const RuleCall& call, const Normalised& parts) {
  Lowering& lowering = call.lowering;
  const int scale = lowering.map(
      real, "rsqrtf({0}.squares / {1} + {2})",
      {parts.moments, lowering.constant(real, static_cast<double>(parts.count)), lowering.constant(real, parts.eps)});
  int y = lowering.map(real, "cudal1::difference({0}, {1}.mean) * {2}", {parts.x, parts.moments, scale});
  if (parts.weight) y = lowering.map(real, "{0} * {1}", {y, *parts.weight});
  if (parts.bias) y = lowering.map(real, "{0} + {1}", {y, *parts.bias});
  return y;
}

std::optional<int> optional_at(const RuleCall& call, std::size_t position, std::string_view name, const Point& point) {
  const auto* ref = argument_as<ValueRef>(call.node, position, name);
  if (ref == nullptr || ref->id < 0) return std::nullopt;
  return call.lowering.as(real, call.lowering.value_at(ref->id, point));
}

int layer_norm(const RuleCall& call) {
  const auto* shape = argument_as<std::vector<std::int64_t>>(call.node, 1, "normalized_shape");
  if (shape == nullptr) call.lowering.refuse(call.node, "has no shape to normalise");
  std::vector<bool> dims(call.point.size(), false);
  std::fill(dims.end() - static_cast<std::ptrdiff_t>(shape->size()), dims.end(), true);
  const Reduced reduced = reduced_point(call, call.value.meta, dims);
  const Point inner(call.point.end() - static_cast<std::ptrdiff_t>(shape->size()), call.point.end());
  return normalised(call,
                    {call.operand(0, "input", real), moments(call, reduced), reduced.count, call.number(4, "eps", 1e-5),
                     optional_at(call, 2, "weight", inner), optional_at(call, 3, "bias", inner)});
}

int rms_norm(const RuleCall& call) {
  const auto* shape = argument_as<std::vector<std::int64_t>>(call.node, 1, "normalized_shape");
  if (shape == nullptr) call.lowering.refuse(call.node, "has no shape to normalise");
  std::vector<bool> dims(call.point.size(), false);
  std::fill(dims.end() - static_cast<std::ptrdiff_t>(shape->size()), dims.end(), true);
  const Reduced reduced = reduced_point(call, call.value.meta, dims);
  Lowering& lowering = call.lowering;
  const int x = element(call, reduced, real);
  const int squares = sum_of(call, lowering.map(real, "{0} * {0}", {x}), reduced);
  const int eps = lowering.constant(real, call.number(3, "eps", 1.1920929e-7));
  const int scale = lowering.map(real, "rsqrtf({0} / {1} + {2})",
                                 {squares, lowering.constant(real, static_cast<double>(reduced.count)), eps});
  const int y = lowering.map(real, "{0} * {1}", {call.operand(0, "input", real), scale});
  const Point inner(call.point.end() - static_cast<std::ptrdiff_t>(shape->size()), call.point.end());
  const auto weight = optional_at(call, 2, "weight", inner);
  return weight ? lowering.map(real, "{0} * {1}", {y, *weight}) : y;
}

//! The argument as [N, G, C / G, …]: its dimensions behind the second make a group.
Reduced group_of(const RuleCall& call, std::int64_t groups) {
  TensorMeta grouped = call.value.meta;
  const std::int64_t channels = grouped.sizes[1];
  grouped.sizes[1] = channels / groups;
  grouped.sizes.insert(grouped.sizes.begin() + 1, groups);
  grouped.strides.insert(grouped.strides.begin() + 1, grouped.strides[1] * (channels / groups));
  const auto point = call.lowering.regrouped(call.point, call.value.meta, grouped);
  if (!point) call.lowering.refuse(call.node, "has groups that no loop can follow");
  Reduced made;
  Affine channel = call.lowering.loop(grouped.sizes[2], made.loops);
  channel.add((*point)[1], grouped.sizes[2]);
  made.point = {(*point)[0], channel};
  made.count = grouped.sizes[2];
  for (std::size_t dim = 3; dim < grouped.sizes.size(); ++dim) {
    made.point.push_back(call.lowering.loop(grouped.sizes[dim], made.loops));
    made.count *= grouped.sizes[dim];
  }
  return made;
}

int group_norm(const RuleCall& call) {
  const auto groups = static_cast<std::int64_t>(call.number(1, "num_groups", 1.0));
  const Reduced reduced = group_of(call, groups);
  const Point channel = {call.point[1]};
  return normalised(call,
                    {call.operand(0, "input", real), moments(call, reduced), reduced.count, call.number(4, "eps", 1e-5),
                     optional_at(call, 2, "weight", channel), optional_at(call, 3, "bias", channel)});
}

//! Every dimension but these.
std::vector<bool> all_but(std::size_t count, std::initializer_list<std::size_t> kept) {
  std::vector<bool> dims(count, true);
  for (const std::size_t dim : kept) dims[dim] = false;
  return dims;
}

//! state <- (1 - momentum) · state + momentum · statistic
void update_state(const RuleCall& call, std::size_t position, std::string_view name, int statistic) {
  const auto* ref = argument_as<ValueRef>(call.node, position, name);
  if (ref == nullptr || ref->id < 0) return;
  const Point channel = {call.point[1]};
  Lowering& lowering = call.lowering;
  const double momentum = call.number(6, "momentum", 0.1);
  const int old = lowering.as(real, lowering.value_at(ref->id, channel));
  lowering.write_state(
      call.node, ref->id, channel,
      lowering.map(real, "{0} * {1} + {2} * {3}",
                   {lowering.constant(real, 1.0 - momentum), old, lowering.constant(real, momentum), statistic}));
}

int batch_norm_by_state(const RuleCall& call, const Point& channel) {
  Lowering& lowering = call.lowering;
  const auto mean_then = optional_at(call, 3, "running_mean", channel),
             var_then = optional_at(call, 4, "running_var", channel);
  if (!mean_then || !var_then) lowering.refuse(call.node, "has no statistics to normalise by");
  const int scale =
      lowering.map(real, "rsqrtf({0} + {1})", {*var_then, lowering.constant(real, call.number(7, "eps", 1e-5))});
  int y = lowering.map(real, "({0} - {1}) * {2}", {call.operand(0, "input", real), *mean_then, scale});
  if (const auto weight = optional_at(call, 1, "weight", channel)) y = lowering.map(real, "{0} * {1}", {y, *weight});
  if (const auto bias = optional_at(call, 2, "bias", channel)) y = lowering.map(real, "{0} + {1}", {y, *bias});
  return y;
}

int batch_norm(const RuleCall& call) {
  const Point channel = {call.point[1]};
  if (call.number(5, "training", 0.0) == 0.0) return batch_norm_by_state(call, channel);
  const Reduced reduced = reduced_point(call, call.value.meta, all_but(call.point.size(), {1}));
  const int seen = moments(call, reduced);
  if (!call.node.writes_state.empty()) {
    update_state(call, 3, "running_mean", call.lowering.map(real, "{0}.mean", {seen}));
    update_state(call, 4, "running_var", variance(call, seen, reduced, 1.0));
  }
  return normalised(call, {call.operand(0, "input", real), seen, reduced.count, call.number(7, "eps", 1e-5),
                           optional_at(call, 1, "weight", channel), optional_at(call, 2, "bias", channel)});
}

int instance_norm(const RuleCall& call) {
  if (call.number(5, "use_input_stats", 1.0) == 0.0 || !call.node.writes_state.empty())
    call.lowering.refuse(call.node, "keeps running statistics");
  const Reduced reduced = reduced_point(call, call.value.meta, all_but(call.point.size(), {0, 1}));
  const Point channel = {call.point[1]};
  return normalised(call,
                    {call.operand(0, "input", real), moments(call, reduced), reduced.count, call.number(7, "eps", 1e-5),
                     optional_at(call, 1, "weight", channel), optional_at(call, 2, "bias", channel)});
}

}  // namespace

void add_reduction_rules(OperatorRules& rules) {
  add_loss_rules(rules);
  rules.emplace("sum", plain("Sum"));
  rules.emplace("prod", plain("Product"));
  rules.emplace("amax", plain("Max"));
  rules.emplace("amin", plain("Min"));
  rules.emplace("max", extremum("Max", "ArgMax"));
  rules.emplace("min", extremum("Min", "ArgMin"));
  rules.emplace("argmax", place_of_extremum("ArgMax"));
  rules.emplace("argmin", place_of_extremum("ArgMin"));
  rules.emplace("mean", mean);
  for (const char* name : {"var", "var_mean"}) rules.emplace(name, spread(false));
  for (const char* name : {"std", "std_mean"}) rules.emplace(name, spread(true));
  for (const char* name : {"linalg_vector_norm", "norm"}) rules.emplace(name, vector_norm);
  rules.emplace("frobenius_norm", frobenius_norm);
  rules.emplace("any", truth("cudal1::Any"));
  rules.emplace("all", truth("cudal1::All"));
  rules.emplace("count_nonzero", count_nonzero);
  rules.emplace("aminmax", aminmax);
  rules.emplace("logsumexp", log_sum_exp);
  for (const char* name : {"softmax", "_softmax"}) rules.emplace(name, softmax(false));
  for (const char* name : {"log_softmax", "_log_softmax"}) rules.emplace(name, softmax(true));
  rules.emplace("layer_norm", layer_norm);
  rules.emplace("rms_norm", rms_norm);
  rules.emplace("group_norm", group_norm);
  rules.emplace("batch_norm", batch_norm);
  rules.emplace("instance_norm", instance_norm);
}

}  // namespace cudal1
