#include "writer/fused/operator_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "graph/operator_name.hpp"
#include "writer/fused/move_rules.hpp"
#include "writer/fused/product_rules.hpp"
#include "writer/fused/reduction_rules.hpp"
#include "writer/fused/scan_rules.hpp"
#include "writer/fused/window_rules.hpp"

namespace cudal1 {
namespace {

constexpr auto real = ScalarKind::real;
constexpr auto boolean = ScalarKind::boolean;

std::optional<double> as_number(const Argument& argument) {
  if (const auto* number = std::get_if<double>(&argument)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&argument)) return static_cast<double>(*number);
  if (const auto* flag = std::get_if<bool>(&argument)) return *flag ? 1.0 : 0.0;
  return std::nullopt;
}

ScalarKind kind_of(const RuleCall& call, std::size_t position, std::string_view name) {
  const Argument* argument = argument_of(call.node, position, name);
  if (argument == nullptr) return boolean;
  if (const auto* ref = std::get_if<ValueRef>(argument))
    return scalar_kind(call.lowering.graph().values[ref->id].meta.dtype);
  if (std::holds_alternative<bool>(*argument)) return boolean;
  return std::holds_alternative<double>(*argument) ? real : ScalarKind::integer;
}

//! f(x), in fp32.
OperatorRule real_function(std::string code) {
  return [code = std::move(code)](const RuleCall& call) {
    return call.lowering.map(real, code, {call.operand(0, "self", real)});
  };
}

//! f(x), in the kind of the result.
OperatorRule same_kind_function(std::string code) {
  return [code = std::move(code)](const RuleCall& call) {
    return call.lowering.map(call.result_kind(), code, {call.operand(0, "self", call.result_kind())});
  };
}

OperatorRule identity() {
  return [](const RuleCall& call) { return call.operand(0, "self", call.result_kind()); };
}

//! f(x, y), in the kind of the result.
OperatorRule binary(std::string code) {
  return [code = std::move(code)](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    return call.lowering.map(kind, code, {call.operand(0, "self", kind), call.operand(1, "other", kind)});
  };
}

//! In what PyTorch computes in when it compares.
OperatorRule comparison(std::string_view symbol) {
  return [code = fmt::format("{{0}} {} {{1}}", symbol)](const RuleCall& call) {
    const ScalarKind kind = std::max(kind_of(call, 0, "self"), kind_of(call, 1, "other"));
    return call.lowering.map(boolean, code, {call.operand(0, "self", kind), call.operand(1, "other", kind)});
  };
}

OperatorRule logical(std::string_view symbol) {
  return [code = fmt::format("{{0}} {} {{1}}", symbol)](const RuleCall& call) {
    return call.lowering.map(boolean, code, {call.operand(0, "self", boolean), call.operand(1, "other", boolean)});
  };
}

//! On booleans, and on integers bit by bit.
OperatorRule bitwise(std::string_view symbol) {
  return [code = fmt::format("{{0}} {} {{1}}", symbol)](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    return call.lowering.map(kind, code, {call.operand(0, "self", kind), call.operand(1, "other", kind)});
  };
}

//! self ± alpha · other; for rsub other - alpha · self.
OperatorRule sum_with_factor(char sign, bool reversed) {
  return [sign, reversed](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    int first = call.operand(0, "self", kind), second = call.operand(1, "other", kind);
    if (reversed) std::swap(first, second);
    if (call.number(2, "alpha", 1.0) != 1.0)
      second = call.lowering.map(kind, kind == boolean ? "{0} && {1}" : "{0} * {1}",
                                 {call.operand(2, "alpha", kind), second});
    if (kind == boolean) return call.lowering.map(boolean, "{0} || {1}", {first, second});
    return call.lowering.map(kind, sign == '-' ? "cudal1::difference({0}, {1})" : "{0} + {1}", {first, second});
  };
}

int divide(const RuleCall& call) {
  const auto* rounding = argument_as<std::string>(call.node, 2, "rounding_mode");
  const ScalarKind kind = call.result_kind();
  const int first = call.operand(0, "self", kind), second = call.operand(1, "other", kind);
  if (rounding == nullptr) return call.lowering.map(kind, "{0} / {1}", {first, second});
  if (*rounding == "floor") return call.lowering.map(kind, "cudal1::floor_divide({0}, {1})", {first, second});
  return call.lowering.map(kind, kind == real ? "truncf({0} / {1})" : "{0} / {1}", {first, second});
}

//! Integers stay what they are.
OperatorRule rounding(std::string code) {
  return [code = std::move(code)](const RuleCall& call) {
    if (call.number(1, "decimals", 0.0) != 0.0) call.lowering.refuse(call.node, "rounds to decimals");
    const int x = call.operand(0, "self", call.result_kind());
    return call.result_kind() == real ? call.lowering.map(real, code, {x}) : x;
  };
}

int integer_power(const RuleCall& call) {
  const auto* exponent = argument_as<std::int64_t>(call.node, 1, "exponent");
  if (exponent == nullptr || std::abs(*exponent) > 64) call.lowering.refuse(call.node, "is a power of integers");
  return call.lowering.map(ScalarKind::integer, fmt::format("cudal1::power({{0}}, {})", *exponent),
                           {call.operand(0, "self", ScalarKind::integer)});
}

int power(const RuleCall& call) {
  const Argument* given = argument_of(call.node, 1, "exponent");
  const double exponent = given ? as_number(*given).value_or(std::nan("")) : std::nan("");
  if (call.result_kind() != real) return integer_power(call);
  const int base = call.operand(0, "self", real);
  const auto mapped = [&](const char* code) { return call.lowering.map(real, code, {base}); };
  if (exponent == 1.0) return base;
  if (exponent == 2.0) return mapped("{0} * {0}");
  if (exponent == 3.0) return mapped("{0} * {0} * {0}");
  if (exponent == 0.5) return mapped("sqrtf({0})");
  if (exponent == -0.5) return mapped("rsqrtf({0})");
  if (exponent == -1.0) return mapped("1.0f / {0}");
  if (exponent == -2.0) return mapped("1.0f / ({0} * {0})");
  return call.lowering.map(real, "powf({0}, {1})", {base, call.operand(1, "exponent", real)});
}

int clamp(const RuleCall& call) {
  const ScalarKind kind = call.result_kind();
  int result = call.operand(0, "self", kind);
  if (call.has(1, "min"))
    result = call.lowering.map(kind, "cudal1::maximum({0}, {1})", {result, call.operand(1, "min", kind)});
  if (call.has(2, "max"))
    result = call.lowering.map(kind, "cudal1::minimum({0}, {1})", {result, call.operand(2, "max", kind)});
  return result;
}

OperatorRule clamp_one_side(std::string_view function, std::string_view name) {
  return [code = fmt::format("cudal1::{}({{0}}, {{1}})", function), name](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    return call.lowering.map(kind, code, {call.operand(0, "self", kind), call.operand(1, name, kind)});
  };
}

int where(const RuleCall& call) {
  const ScalarKind kind = call.result_kind();
  return call.lowering.map(
      kind, "{0} ? {1} : {2}",
      {call.operand(0, "condition", boolean), call.operand(1, "self", kind), call.operand(2, "other", kind)});
}

int masked_fill(const RuleCall& call) {
  const ScalarKind kind = call.result_kind();
  return call.lowering.map(
      kind, "{0} ? {1} : {2}",
      {call.operand(1, "mask", boolean), call.operand(2, "value", kind), call.operand(0, "self", kind)});
}

int gelu(const RuleCall& call) {
  const auto* approximate = argument_as<std::string>(call.node, 1, "approximate");
  const bool by_tanh = approximate != nullptr && *approximate == "tanh";
  return call.lowering.map(real, by_tanh ? "cudal1::gelu_tanh({0})" : "cudal1::gelu({0})",
                           {call.operand(0, "self", real)});
}

//! A parameter of an operator and what it is when it is not given.
struct Given {
  std::string_view name;
  double fallback;
};

//! f(x, numbers…), in fp32.
OperatorRule real_function_with(std::string code, std::vector<Given> numbers) {
  return [code = std::move(code), numbers = std::move(numbers)](const RuleCall& call) {
    std::vector<int> operands = {call.operand(0, "self", real)};
    for (std::size_t i = 0; i < numbers.size(); ++i)
      operands.push_back(call.operand_or(i + 1, numbers[i].name, real, numbers[i].fallback));
    return call.lowering.map(real, code, std::move(operands));
  };
}

int elu(const RuleCall& call) {
  const auto given = [&](std::size_t position, const char* name) { return call.operand_or(position, name, real, 1.0); };
  return call.lowering.map(
      real, "cudal1::elu({0}, {1}, {2}, {3})",
      {call.operand(0, "self", real), given(1, "alpha"), given(2, "scale"), given(3, "input_scale")});
}

//! One that draws nothing: in evaluation, or with probability 0.
int dropout(const RuleCall& call) {
  const bool draws = call.number(2, "train", 1.0) != 0.0 && call.number(1, "p", 0.5) != 0.0;
  if (draws) call.lowering.refuse(call.node, "draws random numbers");
  return call.operand(0, "input", call.result_kind());
}

//! factor · tensor1 ∘ tensor2 + self
OperatorRule sum_with_pair(std::string_view symbol) {
  return [code = fmt::format("{{0}} + {{3}} * ({{1}} {} {{2}})", symbol)](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    return call.lowering.map(kind, code,
                             {call.operand(0, "self", kind), call.operand(1, "tensor1", kind),
                              call.operand(2, "tensor2", kind), call.operand_or(3, "value", kind, 1.0)});
  };
}

//! tril keeps what is not above the diagonal, triu what is not below.
OperatorRule triangle(bool lower) {
  return [lower](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    Lowering& lowering = call.lowering;
    const std::size_t last = call.point.size() - 1;
    Affine across = call.point[last];
    across.add(call.point[last - 1], -1);
    across.offset -= static_cast<std::int64_t>(call.number(1, "diagonal", 0.0));
    const int kept = lowering.map(boolean, lower ? "{0} <= 0" : "{0} >= 0", {lowering.position(across)});
    return lowering.map(kind, "{0} ? {1} : {2}", {kept, call.operand(0, "self", kind), lowering.constant(kind, 0.0)});
  };
}

//! self + weight · (end - self), from the nearer end, as PyTorch does.
int lerp(const RuleCall& call) {
  return call.lowering.map(
      real, "fabsf({2}) < 0.5f ? {0} + {2} * ({1} - {0}) : {1} - ({1} - {0}) * (1.0f - {2})",
      {call.operand(0, "self", real), call.operand(1, "end", real), call.operand(2, "weight", real)});
}

int prelu(const RuleCall& call) {
  const auto* weight = argument_as<ValueRef>(call.node, 1, "weight");
  if (weight == nullptr) call.lowering.refuse(call.node, "has no weight");
  const bool of_channels = call.lowering.graph().values[weight->id].meta.numel() != 1;
  const std::size_t rank = call.lowering.graph().values[weight->id].meta.sizes.size();
  const Point channel = rank == 0 ? Point{} : Point{of_channels ? call.point[1] : Affine{}};
  return call.lowering.map(
      real, "cudal1::leaky_relu({0}, {1})",
      {call.operand(0, "self", real), call.lowering.as(real, call.lowering.value_at(weight->id, channel))});
}

int logit(const RuleCall& call) {
  int x = call.operand(0, "self", real);
  if (call.has(1, "eps")) {
    const double eps = call.number(1, "eps", 0.0);
    x = call.lowering.map(real, "cudal1::clamp({0}, {1}, {2})",
                          {x, call.lowering.constant(real, eps), call.lowering.constant(real, 1.0 - eps)});
  }
  return call.lowering.map(real, "logf({0} / (1.0f - {0}))", {x});
}

//! f(x, y), in fp32.
OperatorRule real_binary(std::string code) {
  return [code = std::move(code)](const RuleCall& call) {
    return call.lowering.map(real, code, {call.operand(0, "self", real), call.operand(1, "other", real)});
  };
}

//! Of real numbers; integers are none of these.
OperatorRule question(std::string code, bool of_integers) {
  return [code = std::move(code), of_integers](const RuleCall& call) {
    if (kind_of(call, 0, "self") != real) return call.lowering.constant(boolean, of_integers ? 1.0 : 0.0);
    return call.lowering.map(boolean, code, {call.operand(0, "self", real)});
  };
}

void add_further_functions(OperatorRules& rules) {
  rules.emplace("exp2", real_function("exp2f({0})"));
  rules.emplace("frac", real_function("{0} - truncf({0})"));
  for (const char* name : {"softsign", "tanhshrink"})
    rules.emplace(name, real_function(fmt::format("cudal1::{}({{0}})", name)));
  for (const char* name : {"hardshrink", "softshrink"})
    rules.emplace(name, real_function_with(fmt::format("cudal1::{}({{0}}, {{1}})", name), {{"lambd", 0.5}}));
  rules.emplace("celu", real_function_with("cudal1::celu({0}, {1})", {{"alpha", 1.0}}));
  rules.emplace("logit", logit);
  rules.emplace("lerp", lerp);
  for (const char* name : {"prelu", "_prelu_kernel"}) rules.emplace(name, prelu);
  rules.emplace("isnan", question("{0} != {0}", false));
  rules.emplace("isinf", question("fabsf({0}) == cudal1::infinity<float>()", false));
  rules.emplace("isfinite", question("fabsf({0}) < cudal1::infinity<float>()", true));
  rules.emplace("atan2", real_binary("atan2f({0}, {1})"));
  rules.emplace("hypot", real_binary("hypotf({0}, {1})"));
  rules.emplace("xlogy", real_binary("cudal1::xlogy({0}, {1})"));
  rules.emplace("logaddexp", real_binary("{0} == {1} ? {0} + logf(2.0f) : cudal1::maximum({0}, {1}) + "
                                         "log1pf(expf(-fabsf({0} - {1})))"));
  rules.emplace("fmod", [](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    return call.lowering.map(kind, kind == real ? "fmodf({0}, {1})" : "{0} % {1}",
                             {call.operand(0, "self", kind), call.operand(1, "other", kind)});
  });
}

void add_functions(OperatorRules& rules) {
  for (const char* name : {"exp",  "log",  "log2", "log10", "log1p", "expm1", "sqrt",  "rsqrt", "sin",   "cos", "tan",
                           "asin", "acos", "atan", "sinh",  "cosh",  "tanh",  "asinh", "acosh", "atanh", "erf", "erfc"})
    rules.emplace(name, real_function(fmt::format("{}f({{0}})", name)));
  for (const char* name : {"floor", "ceil", "trunc"}) rules.emplace(name, rounding(fmt::format("{}f({{0}})", name)));
  rules.emplace("round", rounding("rintf({0})"));
  rules.emplace("reciprocal", real_function("1.0f / {0}"));
  for (const char* name : {"sigmoid", "silu", "mish", "selu", "relu6", "hardswish", "hardsigmoid", "log_sigmoid"})
    rules.emplace(name, real_function(fmt::format("cudal1::{}({{0}})", name)));
  for (const char* name : {"relu", "sign"})
    rules.emplace(name, same_kind_function(fmt::format("cudal1::{}({{0}})", name)));
  rules.emplace("abs", [](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    return call.lowering.map(kind, kind == real ? "fabsf({0})" : "{0} < 0 ? -{0} : {0}",
                             {call.operand(0, "self", kind)});
  });
  rules.emplace("neg", same_kind_function("-{0}"));
  rules.emplace("square", same_kind_function("{0} * {0}"));
  rules.emplace("gelu", gelu);
  rules.emplace("elu", elu);
  rules.emplace("softplus",
                real_function_with("cudal1::softplus({0}, {1}, {2})", {{"beta", 1.0}, {"threshold", 20.0}}));
  rules.emplace("leaky_relu", real_function_with("cudal1::leaky_relu({0}, {1})", {{"negative_slope", 0.01}}));
  rules.emplace("hardtanh", real_function_with("cudal1::clamp({0}, {1}, {2})", {{"min_val", -1.0}, {"max_val", 1.0}}));
  rules.emplace("threshold",
                real_function_with("cudal1::threshold({0}, {1}, {2})", {{"threshold", 0.0}, {"value", 0.0}}));
}

void add_arithmetic(OperatorRules& rules) {
  for (const char* name : {"add", "add_"}) rules.emplace(name, sum_with_factor('+', false));
  for (const char* name : {"sub", "subtract"}) rules.emplace(name, sum_with_factor('-', false));
  rules.emplace("rsub", sum_with_factor('-', true));
  for (const char* name : {"mul", "multiply"}) rules.emplace(name, binary("{0} * {1}"));
  for (const char* name : {"div", "divide", "true_divide"}) rules.emplace(name, divide);
  rules.emplace("floor_divide", binary("cudal1::floor_divide({0}, {1})"));
  rules.emplace("remainder", binary("cudal1::remainder({0}, {1})"));
  rules.emplace("maximum", binary("cudal1::maximum({0}, {1})"));
  rules.emplace("minimum", binary("cudal1::minimum({0}, {1})"));
  rules.emplace("pow", power);
  rules.emplace("addcmul", sum_with_pair("*"));
  rules.emplace("addcdiv", sum_with_pair("/"));
}

void add_choices(OperatorRules& rules) {
  constexpr std::pair<const char*, const char*> comparisons[] = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"},
                                                                 {"le", "<="}, {"gt", ">"},  {"ge", ">="}};
  for (const auto& [name, symbol] : comparisons) rules.emplace(name, comparison(symbol));
  rules.emplace("logical_and", logical("&&"));
  rules.emplace("logical_or", logical("||"));
  rules.emplace("logical_xor", logical("!="));
  rules.emplace("logical_not", [](const RuleCall& call) {
    return call.lowering.map(boolean, "!{0}", {call.operand(0, "self", boolean)});
  });
  rules.emplace("bitwise_and", bitwise("&"));
  rules.emplace("bitwise_or", bitwise("|"));
  rules.emplace("bitwise_xor", bitwise("^"));
  rules.emplace("bitwise_not", [](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    return call.lowering.map(kind, kind == boolean ? "!{0}" : "~{0}", {call.operand(0, "self", kind)});
  });
  rules.emplace("clamp", clamp);
  rules.emplace("clamp_min", clamp_one_side("maximum", "min"));
  rules.emplace("clamp_max", clamp_one_side("minimum", "max"));
  rules.emplace("where", where);
  rules.emplace("masked_fill", masked_fill);
  rules.emplace("tril", triangle(true));
  rules.emplace("triu", triangle(false));
}

void add_copies(OperatorRules& rules) {
  for (const char* name : {"clone", "contiguous", "to", "_to_copy", "alias", "detach", "lift_fresh_copy", "positive"})
    rules.emplace(name, identity());
  rules.emplace("dropout", dropout);
  for (const char* name : {"copy", "copy_"})
    rules.emplace(name, [](const RuleCall& call) { return call.operand(1, "src", call.result_kind()); });
}

const OperatorRules& pointwise_rules() {
  static const OperatorRules made = [] {
    OperatorRules table;
    add_functions(table);
    add_further_functions(table);
    add_arithmetic(table);
    add_choices(table);
    add_copies(table);
    add_move_rules(table);
    add_constant_rules(table);
    return table;
  }();
  return made;
}

const OperatorRules& reduction_rules() {
  static const OperatorRules made = [] {
    OperatorRules table;
    add_reduction_rules(table);
    return table;
  }();
  return made;
}

const OperatorRules& pooling_rules() {
  static const OperatorRules made = [] {
    OperatorRules table;
    add_pooling_rules(table);
    return table;
  }();
  return made;
}

const OperatorRules& convolution_rules() {
  static const OperatorRules made = [] {
    OperatorRules table;
    add_convolution_rules(table);
    return table;
  }();
  return made;
}

const OperatorRules& scan_rules() {
  static const OperatorRules made = [] {
    OperatorRules table;
    add_scan_rules(table);
    return table;
  }();
  return made;
}

const OperatorRule* find(const OperatorRules& rules, std::string_view name) {
  const auto found = rules.find(name);
  return found == rules.end() ? nullptr : &found->second;
}

//! `min.other` and `max.other` are the functions of two tensors; the other overloads reduce.
std::string_view rule_name(const Node& node) {
  if (node.op == "aten::min.other") return "minimum";
  if (node.op == "aten::max.other") return "maximum";
  return base_name(node.op);
}

//! By statistics that are given.
bool normalises_by_state(const Node& node) {
  const bool* training = argument_as<bool>(node, 5, "training");
  return base_name(node.op) == "batch_norm" && training != nullptr && !*training;
}

//! A loss of each element, which nobody adds up.
bool is_loss_of_elements(const Node& node) {
  constexpr std::pair<std::string_view, std::size_t> reductions[] = {{"mse_loss", 2},
                                                                     {"l1_loss", 2},
                                                                     {"smooth_l1_loss", 2},
                                                                     {"huber_loss", 2},
                                                                     {"kl_div", 2},
                                                                     {"soft_margin_loss", 2},
                                                                     {"hinge_embedding_loss", 3},
                                                                     {"margin_ranking_loss", 4},
                                                                     {"binary_cross_entropy", 3},
                                                                     {"binary_cross_entropy_with_logits", 4},
                                                                     {"nll_loss", 3},
                                                                     {"nll_loss_nd", 3}};
  for (const auto& [name, position] : reductions) {
    if (base_name(node.op) != name) continue;
    const auto* reduction = argument_as<std::int64_t>(node, position, "reduction");
    return reduction != nullptr && *reduction == 0;
  }
  return false;
}

}  // namespace

bool RuleCall::has(std::size_t position, std::string_view name) const {
  const Argument* argument = argument_of(node, position, name);
  return argument != nullptr && !std::holds_alternative<NoArgument>(*argument);
}

int RuleCall::operand(std::size_t position, std::string_view name, ScalarKind kind) const {
  const Argument* argument = argument_of(node, position, name);
  if (argument == nullptr) lowering.refuse(node, fmt::format("has no argument {}", quoted(name)));
  if (const auto* ref = std::get_if<ValueRef>(argument))
    return lowering.as(kind, lowering.broadcast_at(ref->id, point));
  const auto* whole = std::get_if<std::int64_t>(argument);
  if (whole != nullptr && kind == ScalarKind::integer) return lowering.constant(*whole);
  if (const auto number = as_number(*argument)) return lowering.constant(kind, *number);
  lowering.refuse(node, fmt::format("has an argument {} that is neither a tensor nor a number", quoted(name)));
}

int RuleCall::operand_or(std::size_t position, std::string_view name, ScalarKind kind, double fallback) const {
  return has(position, name) ? operand(position, name, kind) : lowering.constant(kind, fallback);
}

double RuleCall::number(std::size_t position, std::string_view name, double fallback) const {
  if (!has(position, name)) return fallback;
  if (const auto found = as_number(*argument_of(node, position, name))) return *found;
  lowering.refuse(node, fmt::format("has an argument {} that is no number", quoted(name)));
}

const OperatorRule* rule_of(const Node& node) {
  if (const OperatorRule* rule = find(pointwise_rules(), rule_name(node))) return rule;
  if (is_product(node)) return &product_rule();
  for (const OperatorRules* rules : {&reduction_rules(), &pooling_rules(), &convolution_rules(), &scan_rules()})
    if (const OperatorRule* rule = find(*rules, rule_name(node))) return rule;
  return nullptr;
}

bool is_pointwise(const Node& node) {
  return find(pointwise_rules(), rule_name(node)) != nullptr || normalises_by_state(node) || is_loss_of_elements(node);
}

bool is_scan(const Node& node) { return find(scan_rules(), rule_name(node)) != nullptr; }

bool is_reduction(const OpGraph& graph, const Node& node) {
  if (is_pointwise(node)) return false;
  return find(reduction_rules(), rule_name(node)) != nullptr || pools_everything(graph, node);
}

bool is_pooling(const OpGraph& graph, const Node& node) {
  return find(pooling_rules(), rule_name(node)) != nullptr && !pools_everything(graph, node);
}

bool is_direct_convolution(const Node& node) { return find(convolution_rules(), rule_name(node)) != nullptr; }

}  // namespace cudal1
