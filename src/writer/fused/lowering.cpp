#include "writer/fused/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/operator_name.hpp"
#include "writer/fused/operator_rules.hpp"
#include "writer/fused/view_points.hpp"

namespace cudal1 {
namespace {

std::string real_literal(double number) {
  const auto rounded = static_cast<float>(number);
  if (std::isnan(rounded)) return "__int_as_float(0x7fffffff)";
  if (std::isinf(rounded)) return rounded > 0 ? "__int_as_float(0x7f800000)" : "__int_as_float(0xff800000)";
  std::string text = fmt::format("{:.9g}", rounded);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return rounded < 0 || std::signbit(rounded) ? fmt::format("({}f)", text) : text + "f";
}

std::string literal(ScalarKind kind, double number) {
  if (kind == ScalarKind::boolean) return number != 0.0 ? "true" : "false";
  if (kind == ScalarKind::integer) return fmt::format("{}ll", static_cast<std::int64_t>(number));
  return real_literal(number);
}

//! What others are made of comes after them, and finds its place in their loops.
std::vector<ValueId> latest_first(std::vector<ValueId> values) {
  std::ranges::sort(values, std::greater{});
  return values;
}

//! The largest first: it says which loops there are.
std::vector<ValueId> by_size(const OpGraph& graph, std::vector<ValueId> values) {
  std::ranges::stable_sort(
      values, [&](ValueId a, ValueId b) { return graph.values[a].meta.numel() > graph.values[b].meta.numel(); });
  return values;
}

}  // namespace

FusedTerms lower(const Region& region, SourcePosition at) {
  try {
    return Lowering(region, at).run(latest_first(region.outputs()));
  } catch (const Rejection&) {
    return Lowering(region, at).run(by_size(region.graph(), region.outputs()));
  }
}

FusedTerms Lowering::run(const std::vector<ValueId>& outputs) {
  for (const ValueId value : outputs) add_output(value);
  add_updates_in_place();
  made_.outputs.insert(made_.outputs.end(), states_.begin(), states_.end());
  if (made_.outputs.empty()) reject(Status::plan_error, at_, "nobody reads what these nodes compute");
  resolve_all();
  return std::move(made_);
}

FusedTerms Lowering::finished() {
  resolve_all();
  return std::move(made_);
}

int Lowering::kept_product(ValueId value, const Point& point) {
  kept_points_.push_back(point);
  return load(value, point);
}

//! Nodes such as `add_`, of which nothing is left but the state.
void Lowering::add_updates_in_place() {
  for (const int index : region_.computing_nodes()) {
    const Node& node = graph().nodes[index];
    if (node.writes_state.size() != 1 || !base_name(node.op).ends_with('_')) continue;
    const ValueId state = node.writes_state.front();
    const Value& value = graph().values[state];
    const OperatorRule* rule = rule_of(node);
    if (rule == nullptr) refuse(node, fmt::format("is {}, which is not written", node.op));
    const Point point = whole(value.meta);
    write_state(state, point, as(scalar_kind(value.meta.dtype), (*rule)({*this, node, value, point})));
  }
}

void Lowering::write_state(ValueId state, const Point& point, int term) {
  if (std::ranges::find(states_, state, &FusedTerms::Output::value) != states_.end())
    reject(Status::plan_error, at_,
           fmt::format("the nodes update {} twice; fuse them apart", quoted(graph().values[state].name)));
  states_.push_back({state, term, memory_place(graph().values[state].meta, made_.atoms.resolved(point))});
}

std::optional<Point> Lowering::regrouped(const Point& point, const TensorMeta& meta, const TensorMeta& other) {
  return point_at(other, memory_place(meta, made_.atoms.resolved(point)), made_.atoms);
}

void Lowering::add_output(ValueId value) {
  const TensorMeta& meta = graph().values[value].meta;
  Point point;
  if (made_.outputs.empty()) {
    point = first_ = whole(meta);
  } else if (const Point* covering = covering_point(value)) {
    point = *covering;
  } else {
    const Value& first = graph().values[made_.outputs.front().value];
    if (first.meta.sizes != meta.sizes)
      reject(
          Status::plan_error, at_,
          fmt::format("{} and {} must both be written, but have different sizes, {} and {}: fuse them apart",
                      quoted(first.name), quoted(graph().values[value].name), to_string(first.meta), to_string(meta)));
    point = first_;
  }
  const int term = value_at(value, point);
  made_.outputs.push_back({value, term, memory_place(meta, made_.atoms.resolved(point))});
}

//! Where the loops of outputs before this one pass every element of it, too; some perhaps many times.
const Point* Lowering::covering_point(ValueId value) const {
  const std::int64_t elements = graph().values[value].meta.numel();
  for (auto at = known_.lower_bound({value, {}}); at != known_.end() && at->first.first == value; ++at) {
    std::int64_t passed = 1;
    std::set<int> atoms;
    for (const Affine& index : at->first.second)
      for (const auto& [atom, factor] : index.factors)
        if (atoms.insert(atom).second) passed *= made_.atoms.size(atom);
    if (passed == elements) return &at->first.second;
  }
  return nullptr;
}

Point Lowering::whole(const TensorMeta& meta) {
  Point point(meta.sizes.size());
  for (std::size_t i = 0; i < point.size(); ++i)
    if (meta.sizes[i] != 1) point[i].add(made_.atoms.add(meta.sizes[i]), 1);
  return point;
}

Affine Lowering::loop(std::int64_t size, std::vector<int>& loops) {
  Affine index;
  if (size == 1) return index;
  loops.push_back(made_.atoms.add(size));
  index.add(loops.back(), 1);
  return index;
}

int Lowering::value_at(ValueId id, const Point& point) {
  const Value& value = graph().values[id];
  if (value.view && region_.makes(value.view->base)) return through_view(value, point);
  const std::pair<ValueId, Point> key{id, made_.atoms.resolved(point)};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const int term = region_.makes(id) ? lower_node(id, key.second) : load(id, key.second);
  known_.emplace(std::pair{id, made_.atoms.resolved(point)}, term);
  return term;
}

//! Windows with padding do; whoever reads there asks first whether there is an element.
bool Lowering::leaves(const TensorMeta& meta, const Point& point) const {
  for (std::size_t i = 0; i < point.size(); ++i)
    if (point[i].offset < 0 || made_.atoms.largest(point[i]) >= std::max<std::int64_t>(1, meta.sizes[i])) return true;
  return false;
}

int Lowering::through_view(const Value& view, const Point& point) {
  const Value& base = graph().values[view.view->base];
  if (leaves(view.meta, made_.atoms.resolved(point)))
    reject(Status::plan_error, at_,
           fmt::format("windows reach beyond the ends of {}, a view of {}; leave one of them out of the fusion",
                       quoted(view.name), quoted(base.name)));
  Affine place = memory_place(view.meta, made_.atoms.resolved(point));
  place.offset += view.view->offset_elements;
  const auto inside = point_at(base.meta, place, made_.atoms);
  if (!inside)
    reject(Status::plan_error, at_,
           fmt::format("{} is a view of {} that no loop can follow; leave one of them out of the fusion",
                       quoted(view.name), quoted(base.name)));
  return value_at(view.view->base, *inside);
}

int Lowering::load(ValueId value, const Point& point) {
  const TensorMeta& meta = graph().values[value].meta;
  if (meta.dtype == DType::f64)
    reject(Status::plan_error, at_,
           fmt::format("{} is fp64, which is not written; leave its node to the library",
                       quoted(graph().values[value].name)));
  return add({TermKind::load, scalar_kind(meta.dtype), {}, {}, value, memory_place(meta, point), {}});
}

int Lowering::lower_node(ValueId id, const Point& point) {
  const Value& value = graph().values[id];
  const Node& node = graph().nodes[value.node];
  if (value.meta.dtype == DType::f64) refuse(node, "gives fp64, which is not written");
  if (!node.writes_state.empty() && base_name(node.op).ends_with('_')) refuse(node, "works in place, and is read");
  const OperatorRule* rule = rule_of(node);
  if (rule == nullptr) refuse(node, fmt::format("is {}, which is not written", node.op));
  return as(scalar_kind(value.meta.dtype), (*rule)({*this, node, value, point}));
}

void Lowering::refuse(const Node& node, std::string_view why) const {
  reject(Status::plan_error, at_,
         fmt::format("{} cannot be fused: it {}; leave it to the library", quoted(node.name), why));
}

int Lowering::broadcast_at(ValueId id, const Point& point) {
  const std::vector<std::int64_t>& sizes = graph().values[id].meta.sizes;
  Point own(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) own[i] = point[point.size() - sizes.size() + i];
  return value_at(id, own);
}

int Lowering::add(Term term) {
  made_.terms.push_back(std::move(term));
  return static_cast<int>(made_.terms.size()) - 1;
}

int Lowering::map(ScalarKind kind, std::string code, std::vector<int> operands) {
  const auto [known, fresh] = known_maps_.emplace(std::pair{fmt::format("{} {}", cuda_name(kind), code), operands},
                                                  static_cast<int>(made_.terms.size()));
  return fresh ? add({TermKind::map, kind, std::move(code), std::move(operands)}) : known->second;
}

int Lowering::constant(ScalarKind kind, double number) {
  return add({TermKind::constant, kind, literal(kind, number)});
}

int Lowering::position(const Affine& index) {
  return add({TermKind::position, ScalarKind::integer, {}, {}, -1, index, {}});
}

int Lowering::reduce(ScalarKind kind, std::string operation, std::vector<int> elements, std::vector<int> loops) {
  return add({TermKind::reduce, kind, std::move(operation), std::move(elements), -1, {}, std::move(loops)});
}

int Lowering::reduce_windows(ScalarKind kind, std::string operation, std::vector<int> elements,
                             std::vector<WindowDim> windows, std::int64_t results) {
  std::vector<int> loops;
  for (const WindowDim& window : windows)
    if (window.loop >= 0) loops.push_back(window.loop);
  const int term = reduce(kind, std::move(operation), std::move(elements), std::move(loops));
  made_.terms[term].windows = std::move(windows);
  made_.terms[term].results = results;
  return term;
}

int Lowering::once(const Node& node, const Point& point, const std::function<int()>& make) {
  const std::pair<const Node*, Point> key{&node, made_.atoms.resolved(point)};
  if (const auto known = made_once_.find(key); known != made_once_.end()) return known->second;
  return made_once_[key] = make();
}

int Lowering::as(ScalarKind kind, int term) {
  const ScalarKind from = made_.terms[term].scalar;
  if (from == kind) return term;
  if (kind == ScalarKind::boolean) return map(kind, "{0} != 0", {term});
  return map(kind, fmt::format("static_cast<{}>({{0}})", cuda_name(kind)), {term});
}

std::vector<Point> Lowering::kept_points() const { return kept_points_; }

void Lowering::resolve_all() {
  for (Point& point : kept_points_) point = made_.atoms.resolved(point);
  for (Term& term : made_.terms) term.place = made_.atoms.resolved(term.place);
  for (FusedTerms::Output& output : made_.outputs) output.place = made_.atoms.resolved(output.place);
  for (Term& term : made_.terms) term.loops = made_.atoms.parts_of(term.loops);
  for (Term& term : made_.terms)
    for (WindowDim& window : term.windows) {
      window.index = made_.atoms.resolved(window.index);
      window.part = made_.atoms.resolved(window.part);
      window.divided = made_.atoms.resolved(window.divided);
    }
}

}  // namespace cudal1
