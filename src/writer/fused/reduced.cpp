#include "writer/fused/reduced.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/operator_name.hpp"

namespace cudal1 {

const TensorMeta& meta_of(const RuleCall& call, std::size_t position, std::string_view name) {
  const auto* ref = argument_as<ValueRef>(call.node, position, name);
  if (ref == nullptr) call.lowering.refuse(call.node, "has no tensor to reduce");
  return call.lowering.graph().values[ref->id].meta;
}

std::vector<bool> reduced_dims(const RuleCall& call, std::size_t position, std::size_t count) {
  std::vector<std::int64_t> dims;
  if (const auto* list = argument_as<std::vector<std::int64_t>>(call.node, position, "dim")) dims = *list;
  if (const auto* one = argument_as<std::int64_t>(call.node, position, "dim")) dims.push_back(*one);
  std::vector<bool> reduced(count, dims.empty());
  if (count == 0) return reduced;  // of a number, -1 and 0 are dimensions, too
  for (const std::int64_t dim : dims)
    reduced[static_cast<std::size_t>(dim < 0 ? dim + std::int64_t(count) : dim)] = true;
  return reduced;
}

Reduced reduced_point(const RuleCall& call, const TensorMeta& meta, const std::vector<bool>& reduced) {
  Reduced made;
  const bool keeps = call.point.size() == meta.sizes.size();
  std::size_t next = 0;
  for (std::size_t dim = 0; dim < meta.sizes.size(); ++dim) {
    if (!reduced[dim]) {
      made.point.push_back(call.point[keeps ? dim : next++]);
      continue;
    }
    made.point.push_back(call.lowering.loop(meta.sizes[dim], made.loops));
    made.count *= meta.sizes[dim];
  }
  return made;
}

Reduced reduced_point(const RuleCall& call, std::size_t dims_position) {
  const TensorMeta& meta = meta_of(call, 0, "self");
  return reduced_point(call, meta, reduced_dims(call, dims_position, meta.sizes.size()));
}

int element_of(const RuleCall& call, std::size_t position, const Point& point, ScalarKind kind) {
  const auto* ref = argument_as<ValueRef>(call.node, position, position == 0 ? "self" : "");
  if (ref == nullptr) call.lowering.refuse(call.node, fmt::format("has no tensor as argument {}", position));
  return call.lowering.as(kind, call.lowering.value_at(ref->id, point));
}

int element(const RuleCall& call, const Reduced& reduced, ScalarKind kind) {
  return element_of(call, 0, reduced.point, kind);
}

std::string typed(std::string_view operation, ScalarKind kind) {
  return fmt::format("cudal1::{}<{}>", operation, cuda_name(kind));
}

int sum_of(const RuleCall& call, int term, const Reduced& reduced) {
  return call.lowering.reduce(ScalarKind::real, typed("Sum", ScalarKind::real), {term}, reduced.loops);
}

int divided(const RuleCall& call, int term, double by) {
  return call.lowering.map(ScalarKind::real, "{0} / {1}", {term, call.lowering.constant(ScalarKind::real, by)});
}

int moments(const RuleCall& call, const Reduced& reduced) {
  return call.lowering.reduce(ScalarKind::real, typed("Welford", ScalarKind::real),
                              {element(call, reduced, ScalarKind::real)}, reduced.loops);
}

int variance(const RuleCall& call, int moments, const Reduced& reduced, double correction) {
  const double divisor = std::max(0.0, static_cast<double>(reduced.count) - correction);
  return call.lowering.map(ScalarKind::real, "{0}.squares / {1}",
                           {moments, call.lowering.constant(ScalarKind::real, divisor)});
}

}  // namespace cudal1
