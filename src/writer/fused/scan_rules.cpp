#include "writer/fused/scan_rules.hpp"

#include "writer/fused/reduced.hpp"

namespace cudal1 {
namespace {

constexpr auto real = ScalarKind::real;

//! The dimension that is scanned; nothing where it has one element or there is none.
std::optional<std::size_t> scanned_dim(const RuleCall& call) {
  const auto given = static_cast<std::int64_t>(call.number(1, "dim", 0.0));
  const auto dim = static_cast<std::size_t>(given < 0 ? given + std::int64_t(call.point.size()) : given);
  if (dim >= call.point.size() || call.value.meta.sizes[dim] == 1) return std::nullopt;
  return dim;
}

OperatorRule scanned(std::string_view operation) {
  return [operation](const RuleCall& call) {
    const ScalarKind kind = call.result_kind();
    const int element = element_of(call, 0, call.point, kind);
    const auto dim = scanned_dim(call);
    if (!dim) return element;
    return call.lowering.scan(call.node, kind, typed(operation, kind), element, call.point[*dim],
                              call.value.meta.sizes[*dim]);
  };
}

int logcumsumexp(const RuleCall& call) {
  const int element = element_of(call, 0, call.point, real);
  const auto dim = scanned_dim(call);
  if (!dim) return element;
  const int both = call.lowering.scan(call.node, real, typed("LogSumExp", real), element, call.point[*dim],
                                      call.value.meta.sizes[*dim]);
  return call.lowering.map(real, "cudal1::LogSumExp<float>::log_sum_exp({0})", {both});
}

}  // namespace

void add_scan_rules(OperatorRules& rules) {
  rules.emplace("cumsum", scanned("Sum"));
  rules.emplace("cumprod", scanned("Product"));
  rules.emplace("logcumsumexp", logcumsumexp);
}

}  // namespace cudal1
