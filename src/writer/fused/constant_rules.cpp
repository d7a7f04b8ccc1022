#include <fmt/format.h>

#include "graph/operator_name.hpp"
#include "writer/fused/move_rules.hpp"

namespace cudal1 {
namespace {

constexpr auto real = ScalarKind::real;
constexpr auto integer = ScalarKind::integer;
constexpr auto boolean = ScalarKind::boolean;

OperatorRule filled(double number) {
  return [number](const RuleCall& call) { return call.lowering.constant(call.result_kind(), number); };
}

//! The number, or a tensor of one element, at this position.
OperatorRule filled_by(std::size_t position, std::string_view name) {
  return [position, name](const RuleCall& call) { return call.operand(position, name, call.result_kind()); };
}

//! first + step · index, as integers where the result is one.
int arange(const RuleCall& call) {
  const bool has_start = call.node.op != "aten::arange";
  const bool has_step = call.node.op == "aten::arange.start_step";
  const ScalarKind kind = call.result_kind() == real ? real : integer;
  const int first = has_start ? call.operand(0, "start", kind) : call.lowering.constant(kind, 0.0);
  const int step = has_step ? call.operand_or(2, "step", kind, 1.0) : call.lowering.constant(kind, 1.0);
  const int index = call.lowering.as(kind, call.lowering.position(call.point[0]));
  return call.lowering.map(kind, "{0} + {1} * {2}", {first, step, index});
}

//! From both ends, as PyTorch does, so that the last element is the end exactly.
int linspace(const RuleCall& call) {
  const double start = call.number(0, "start", 0.0), end = call.number(1, "end", 0.0);
  const std::int64_t steps = call.value.meta.sizes[0];
  if (call.result_kind() != real) call.lowering.refuse(call.node, "counts in integers");
  if (steps == 1) return call.lowering.constant(real, start);
  const double step = (end - start) / static_cast<double>(steps - 1);
  Lowering& lowering = call.lowering;
  return lowering.map(real,
                      fmt::format("{{0}} < {0}ll ? {{1}} + {{3}} * static_cast<float>({{0}}) : {{2}} - {{3}} * "
                                  "static_cast<float>({1}ll - {{0}})",
                                  steps / 2, steps - 1),
                      {lowering.position(call.point[0]), lowering.constant(real, start), lowering.constant(real, end),
                       lowering.constant(real, step)});
}

int eye(const RuleCall& call) {
  Affine across = call.point[1];
  across.add(call.point[0], -1);
  const int on_diagonal = call.lowering.map(boolean, "{0} == 0", {call.lowering.position(across)});
  return call.lowering.as(call.result_kind(), on_diagonal);
}

int one_hot(const RuleCall& call) {
  const Point inner(call.point.begin(), call.point.end() - 1);
  const auto* ref = argument_as<ValueRef>(call.node, 0, "self");
  if (ref == nullptr) call.lowering.refuse(call.node, "has no tensor of classes");
  const int wanted = call.lowering.as(integer, call.lowering.value_at(ref->id, inner));
  return call.lowering.map(boolean, "{0} == {1}", {wanted, call.lowering.position(call.point.back())});
}

}  // namespace

void add_constant_rules(OperatorRules& rules) {
  for (const char* name : {"zeros", "zeros_like", "new_zeros"}) rules.emplace(name, filled(0.0));
  for (const char* name : {"ones", "ones_like", "new_ones"}) rules.emplace(name, filled(1.0));
  for (const char* name : {"full", "full_like"}) rules.emplace(name, filled_by(1, "fill_value"));
  rules.emplace("new_full", filled_by(2, "fill_value"));
  rules.emplace("fill", filled_by(1, "value"));
  rules.emplace("scalar_tensor", filled_by(0, "s"));
  rules.emplace("arange", arange);
  rules.emplace("linspace", linspace);
  rules.emplace("eye", eye);
  rules.emplace("one_hot", one_hot);
}

}  // namespace cudal1
