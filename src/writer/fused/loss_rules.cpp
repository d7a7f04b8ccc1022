#include "writer/fused/loss_rules.hpp"

#include <fmt/format.h>

#include "graph/operator_name.hpp"
#include "writer/fused/reduced.hpp"

namespace cudal1 {
namespace {

constexpr auto real = ScalarKind::real;
constexpr auto integer = ScalarKind::integer;
constexpr auto boolean = ScalarKind::boolean;

LossReduction reduction_of(const RuleCall& call, std::size_t position) {
  return static_cast<LossReduction>(static_cast<int>(call.number(position, "reduction", 1.0)));
}

Reduced everything(const RuleCall& call, const TensorMeta& meta) {
  return reduced_point(call, meta, std::vector<bool>(meta.sizes.size(), true));
}

// --- losses of single elements ---------------------------------------------------------------------------------------

using ElementLoss = std::function<int(const RuleCall&, const std::vector<int>& arguments)>;

//! f of an element of each of the first arguments, then none, the mean or the sum of all.
OperatorRule loss(std::size_t tensors, ElementLoss of_element, std::size_t reduction_position) {
  return [=](const RuleCall& call) {
    const LossReduction reduction = reduction_of(call, reduction_position);
    const TensorMeta& input = meta_of(call, 0, "self");
    for (std::size_t i = 1; i < tensors; ++i)
      if (input.sizes != meta_of(call, i, "target").sizes) call.lowering.refuse(call.node, "broadcasts its arguments");
    const auto at = [&](const Point& point) {
      std::vector<int> arguments;
      for (std::size_t i = 0; i < tensors; ++i) arguments.push_back(element_of(call, i, point, real));
      return of_element(call, arguments);
    };
    if (reduction == LossReduction::none) return at(call.point);
    const Reduced all = everything(call, input);
    const int sum = sum_of(call, at(all.point), all);
    return reduction == LossReduction::sum ? sum : divided(call, sum, static_cast<double>(all.count));
  };
}

//! An expression of the arguments.
ElementLoss made_of(std::string code) {
  return [code = std::move(code)](const RuleCall& call, const std::vector<int>& arguments) {
    return call.lowering.map(real, code, arguments);
  };
}

//! The same with a number of the operator behind the arguments.
ElementLoss made_of(std::string code, std::size_t position, std::string_view name, double fallback) {
  return [=](const RuleCall& call, std::vector<int> arguments) {
    arguments.push_back(call.lowering.constant(real, call.number(position, name, fallback)));
    return call.lowering.map(real, code, arguments);
  };
}

ElementLoss unless_given(ElementLoss loss, std::size_t first, std::size_t last) {
  return [=](const RuleCall& call, const std::vector<int>& arguments) {
    for (std::size_t i = first; i <= last; ++i)
      if (call.has(i, i == 2 ? "weight" : "pos_weight")) call.lowering.refuse(call.node, "has weights");
    return loss(call, arguments);
  };
}

int divergence(const RuleCall& call, const std::vector<int>& arguments) {
  const bool of_logarithms = call.number(3, "log_target", 0.0) != 0.0;
  return call.lowering.map(real, of_logarithms ? "expf({1}) * ({1} - {0})" : "cudal1::xlogy({1}, {1}) - {1} * {0}",
                           arguments);
}

void add_losses_of_elements(OperatorRules& rules) {
  rules.emplace("mse_loss", loss(2, made_of("cudal1::difference({0}, {1}) * cudal1::difference({0}, {1})"), 2));
  rules.emplace("l1_loss", loss(2, made_of("fabsf(cudal1::difference({0}, {1}))"), 2));
  rules.emplace("smooth_l1_loss",
                loss(2, made_of("cudal1::smooth_l1(cudal1::difference({0}, {1}), {2})", 3, "beta", 1.0), 2));
  rules.emplace("huber_loss", loss(2, made_of("cudal1::huber(cudal1::difference({0}, {1}), {2})", 3, "delta", 1.0), 2));
  rules.emplace("kl_div", loss(2, divergence, 2));
  rules.emplace("soft_margin_loss", loss(2, made_of("log1pf(expf(-{1} * {0}))"), 2));
  rules.emplace(
      "hinge_embedding_loss",
      loss(2, made_of("{1} == 1.0f ? {0} : {1} == -1.0f ? cudal1::maximum({2} - {0}, 0.0f) : 0.0f", 2, "margin", 1.0),
           3));
  rules.emplace("margin_ranking_loss",
                loss(3, made_of("cudal1::maximum(-{2} * ({0} - {1}) + {3}, 0.0f)", 3, "margin", 0.0), 4));
  rules.emplace("binary_cross_entropy",
                loss(2,
                     unless_given(made_of("({1} - 1.0f) * cudal1::maximum(log1pf(-{0}), -100.0f) - "
                                          "{1} * cudal1::maximum(logf({0}), -100.0f)"),
                                  2, 2),
                     3));
  rules.emplace("binary_cross_entropy_with_logits",
                loss(2, unless_given(made_of("(1.0f - {1}) * {0} - cudal1::log_sigmoid({0})"), 2, 3), 4));
}

// --- losses of rows --------------------------------------------------------------------------------------------------

//! One for each row; their mean and sum are a reduction of their own (loss_stages.hpp).
void need_rows(const RuleCall& call, std::size_t reduction_position) {
  if (reduction_of(call, reduction_position) != LossReduction::none)
    call.lowering.refuse(call.node, "reduces twice, in another fusion than its neighbours can join");
}

//! The argument, broadcast to sizes that all of them have.
int broadcast_element(const RuleCall& call, std::size_t position, const Point& point) {
  const auto* ref = argument_as<ValueRef>(call.node, position, "");
  if (ref == nullptr) call.lowering.refuse(call.node, fmt::format("has no tensor as argument {}", position));
  return call.lowering.as(real, call.lowering.broadcast_at(ref->id, point));
}

//! The sizes of two arguments that are broadcast to each other.
TensorMeta broadcast_meta(const RuleCall& call, std::size_t first, std::size_t second) {
  TensorMeta made = meta_of(call, first, "x1");
  const TensorMeta& other = meta_of(call, second, "x2");
  if (other.sizes.size() != made.sizes.size()) call.lowering.refuse(call.node, "broadcasts to more dimensions");
  for (std::size_t i = 0; i < made.sizes.size(); ++i)
    if (made.sizes[i] == 1) made.sizes[i] = other.sizes[i];
  return made;
}

struct Cosine {
  int product, first, second;  //!< sums of x1 · x2, x1², x2²
};

Cosine cosine_sums(const RuleCall& call, const Reduced& row) {
  const int x = broadcast_element(call, 0, row.point), y = broadcast_element(call, 1, row.point);
  const auto sum = [&](int a, int b) { return sum_of(call, call.lowering.map(real, "{0} * {1}", {a, b}), row); };
  return {sum(x, y), sum(x, x), sum(y, y)};
}

int cosine_similarity(const RuleCall& call) {
  const TensorMeta meta = broadcast_meta(call, 0, 1);
  const auto given = static_cast<std::int64_t>(call.number(2, "dim", 1.0));
  std::vector<bool> dims(meta.sizes.size(), false);
  dims.at(static_cast<std::size_t>(given < 0 ? given + std::int64_t(dims.size()) : given)) = true;
  const Cosine sums = cosine_sums(call, reduced_point(call, meta, dims));
  return call.lowering.map(
      real, "{0} / (cudal1::maximum(sqrtf({1}), {3}) * cudal1::maximum(sqrtf({2}), {3}))",
      {sums.product, sums.first, sums.second, call.lowering.constant(real, call.number(3, "eps", 1e-8))});
}

std::vector<bool> last_of(const TensorMeta& meta) {
  std::vector<bool> dims(meta.sizes.size(), false);
  if (!dims.empty()) dims.back() = true;
  return dims;
}

int cosine_embedding_loss(const RuleCall& call) {
  need_rows(call, 4);
  const TensorMeta& meta = meta_of(call, 0, "input1");
  if (meta.sizes != meta_of(call, 1, "input2").sizes) call.lowering.refuse(call.node, "broadcasts its arguments");
  const Cosine sums = cosine_sums(call, reduced_point(call, meta, last_of(meta)));
  const int cosine =
      call.lowering.map(real, "{0} / sqrtf(({1} + 1e-12f) * ({2} + 1e-12f))", {sums.product, sums.first, sums.second});
  return call.lowering.map(
      real, "{1} == 1.0f ? 1.0f - {0} : {1} == -1.0f ? cudal1::maximum({0} - {2}, 0.0f) : 0.0f",
      {cosine, element_of(call, 2, call.point, real), call.lowering.constant(real, call.number(3, "margin", 0.0))});
}

//! The norm of x1 - x2 + eps along the last dimension.
int distance(const RuleCall& call, std::size_t first, std::size_t second, const Reduced& row, double order,
             double eps) {
  if (order != 1.0 && order != 2.0) call.lowering.refuse(call.node, "has a norm that is neither 1 nor 2");
  Lowering& lowering = call.lowering;
  const int apart = lowering.map(real, "fabsf({0} - {1} + {2})",
                                 {broadcast_element(call, first, row.point), broadcast_element(call, second, row.point),
                                  lowering.constant(real, eps)});
  if (order == 1.0) return sum_of(call, apart, row);
  return lowering.map(real, "sqrtf({0})", {sum_of(call, lowering.map(real, "{0} * {0}", {apart}), row)});
}

int pairwise_distance(const RuleCall& call) {
  const TensorMeta meta = broadcast_meta(call, 0, 1);
  return distance(call, 0, 1, reduced_point(call, meta, last_of(meta)), call.number(2, "p", 2.0),
                  call.number(3, "eps", 1e-6));
}

int triplet_margin_loss(const RuleCall& call) {
  need_rows(call, 7);
  if (call.number(6, "swap", 0.0) != 0.0) call.lowering.refuse(call.node, "swaps anchor and positive");
  const TensorMeta& meta = meta_of(call, 0, "anchor");
  for (const std::size_t other : {1u, 2u})
    if (meta.sizes != meta_of(call, other, "positive").sizes)
      call.lowering.refuse(call.node, "broadcasts its arguments");
  const Reduced row = reduced_point(call, meta, last_of(meta));
  const double order = call.number(4, "p", 2.0), eps = call.number(5, "eps", 1e-6);
  const int margin = call.lowering.constant(real, call.number(3, "margin", 1.0));
  return call.lowering.map(real, "cudal1::maximum({2} + {0} - {1}, 0.0f)",
                           {distance(call, 0, 1, row, order, eps), distance(call, 0, 2, row, order, eps), margin});
}

// --- classes ---------------------------------------------------------------------------------------------------------

std::size_t class_dim(const TensorMeta& input) { return input.sizes.size() == 1 ? 0 : 1; }

//! The target at this index of rows, and whether it counts.
struct Label {
  int label, counts;
  Affine index;  //!< among the classes; of labels that do not count any
};

Label label_at(const RuleCall& call, const Point& rows, std::int64_t classes, std::size_t ignore_position) {
  Lowering& lowering = call.lowering;
  const int label = element_of(call, 1, rows, integer);
  const auto ignored = static_cast<std::int64_t>(call.number(ignore_position, "ignore_index", -100.0));
  const int counts = lowering.map(boolean, fmt::format("{{0}} != ({}ll)", ignored), {label});
  const int inside = lowering.map(integer, fmt::format("{{0}} >= 0 && {{0}} < {}ll ? {{0}} : 0ll", classes), {label});
  return {label, counts, lowering.computed_index(inside, classes)};
}

Point with_class(Point rows, std::size_t dim, const Affine& index) {
  rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(dim), index);
  return rows;
}

//! -log softmax of an element.
int surprise(const RuleCall& call, int x, int both) {
  return call.lowering.map(real, "cudal1::difference({1}.maximum, {0}) + logf({1}.sum)", {x, both});
}

int cross_entropy_loss(const RuleCall& call) {
  need_rows(call, 3);
  if (call.has(2, "weight")) call.lowering.refuse(call.node, "has weights");
  Lowering& lowering = call.lowering;
  const TensorMeta& input = meta_of(call, 0, "self");
  const std::size_t dim = class_dim(input);
  std::vector<bool> dims(input.sizes.size(), false);
  dims[dim] = true;
  const auto classes = [&] { return reduced_point(call, input, dims); };
  const Reduced row = classes();
  const int both = lowering.reduce(real, typed("LogSumExp", real), {element(call, row, real)}, row.loops);
  const double smoothing = call.number(5, "label_smoothing", 0.0);
  const auto mean_surprise = [&] {
    const Reduced again = classes();
    return divided(call, sum_of(call, surprise(call, element(call, again, real), both), again),
                   static_cast<double>(input.sizes[dim]) / smoothing);
  };
  if (is_floating(meta_of(call, 1, "target").dtype)) {
    if (smoothing != 0.0) lowering.refuse(call.node, "smooths probabilities");
    const Reduced again = classes();
    const int share = lowering.map(
        real, "{0} * {1}", {element_of(call, 1, again.point, real), surprise(call, element(call, again, real), both)});
    return sum_of(call, share, again);
  }
  const Label label = label_at(call, call.point, input.sizes[dim], 4);
  const int x = element_of(call, 0, with_class(call.point, dim, label.index), real);
  int made = surprise(call, x, both);
  if (smoothing != 0.0)
    made = lowering.map(real, "{0} * {1} + {2}", {lowering.constant(real, 1.0 - smoothing), made, mean_surprise()});
  return lowering.map(real, "{0} ? {1} : 0.0f", {label.counts, made});
}

int nll_loss(const RuleCall& call) {
  if (call.has(2, "weight")) call.lowering.refuse(call.node, "has weights");
  Lowering& lowering = call.lowering;
  const TensorMeta& input = meta_of(call, 0, "self");
  const std::size_t dim = class_dim(input);
  const auto at = [&](const Point& rows) {
    const Label label = label_at(call, rows, input.sizes[dim], 4);
    const int x = element_of(call, 0, with_class(rows, dim, label.index), real);
    return std::pair{lowering.map(real, "{0} ? -{1} : 0.0f", {label.counts, x}), label.counts};
  };
  const LossReduction reduction = reduction_of(call, 3);
  if (reduction == LossReduction::none) return at(call.point).first;
  const Reduced all = everything(call, meta_of(call, 1, "target"));
  const auto [each, counts] = at(all.point);
  const int sum = sum_of(call, each, all);
  if (reduction == LossReduction::sum) return sum;
  return lowering.map(real, "{0} / {1}", {sum, sum_of(call, lowering.as(real, counts), all)});
}

//! What is left of a loss of rows when these are known (loss_stages.hpp): losses, reduction, labels, label to ignore.
int loss_of_rows(const RuleCall& call) {
  const TensorMeta& meta = meta_of(call, 0, "losses");
  const Reduced all = everything(call, meta);
  const int sum = sum_of(call, element(call, all, real), all);
  if (reduction_of(call, 1) == LossReduction::sum) return sum;
  if (!call.has(2, "labels")) return divided(call, sum, static_cast<double>(all.count));
  const auto ignored = static_cast<std::int64_t>(call.number(3, "ignore_index", -100.0));
  const int counts = call.lowering.map(real, fmt::format("{{0}} != ({}ll) ? 1.0f : 0.0f", ignored),
                                       {element_of(call, 2, all.point, integer)});
  return call.lowering.map(real, "{0} / {1}", {sum, sum_of(call, counts, all)});
}

}  // namespace

void add_loss_rules(OperatorRules& rules) {
  add_losses_of_elements(rules);
  rules.emplace("cosine_similarity", cosine_similarity);
  rules.emplace("cosine_embedding_loss", cosine_embedding_loss);
  rules.emplace("pairwise_distance", pairwise_distance);
  rules.emplace("triplet_margin_loss", triplet_margin_loss);
  rules.emplace("cross_entropy_loss", cross_entropy_loss);
  for (const char* name : {"nll_loss", "nll_loss_nd"}) rules.emplace(name, nll_loss);
  rules.emplace("loss_of_rows", loss_of_rows);
}

}  // namespace cudal1
