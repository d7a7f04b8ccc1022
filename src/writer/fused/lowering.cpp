#include "writer/fused/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/operator_name.hpp"
#include "program/unit_order.hpp"
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

constexpr std::size_t most_terms = 4000;

}  // namespace

FusedTerms lower(const Region& region, SourcePosition at, Gathers gathers) {
  try {
    return Lowering(region, at, gathers).run(latest_first(region.outputs()));
  } catch (const Rejection&) {
    return Lowering(region, at, gathers).run(by_size(region.graph(), region.outputs()));
  }
}

LoweredAroundProducts lower_around_products(const Region& region, SourcePosition at, Gathers gathers) {
  const auto lowered = [&](const std::vector<ValueId>& outputs) {
    Lowering lowering(region, at, gathers);
    lowering.keep_products();
    FusedTerms fused = lowering.run(outputs);
    return LoweredAroundProducts{std::move(fused), lowering.kept_points()};
  };
  try {
    return lowered(latest_first(region.outputs()));
  } catch (const Rejection&) {
    return lowered(by_size(region.graph(), region.outputs()));
  }
}

FusedTerms Lowering::run(const std::vector<ValueId>& outputs) {
  for (const ValueId value : outputs) add_output(value);
  add_updates_in_place();
  check_states();
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
    const bool like_first =
        !made_.outputs.empty() && graph().values[made_.outputs.front().value].meta.sizes == value.meta.sizes;
    const Point point = like_first ? first_ : whole(value.meta);
    write_state(node, state, point, as(scalar_kind(value.meta.dtype), (*rule)({*this, node, value, point})));
  }
}

//! The same node may come here again, for its result at another index; what it makes of the state is the same.
void Lowering::write_state(const Node& node, ValueId state, const Point& point, int term) {
  const auto [writer, fresh] = writers_.emplace(state, &node);
  if (writer->second != &node)
    reject(Status::plan_error, at_,
           fmt::format("the nodes update {} twice; fuse them apart", quoted(graph().values[state].name)));
  const Point resolved = made_.atoms.resolved(point);
  if (!made_.atoms.pass_once(resolved, graph().values[state].meta.sizes))
    refuse(node, fmt::format("updates {}, of which not everything is passed here", quoted(graph().values[state].name)));
  if (fresh) states_.push_back({state, term, memory_place(graph().values[state].meta, resolved)});
}

//! Every node that updates a state must have come by, and only it may read the state: others would race with it.
void Lowering::check_states() const {
  for (const int index : region_.computing_nodes()) {
    const Node& node = graph().nodes[index];
    for (const ValueId state : node.writes_state)
      if (!writers_.contains(state))
        refuse(node, fmt::format("updates {}, but nothing here needs its result", quoted(graph().values[state].name)));
    for (const ValueId read : OpGraph::reads(node)) {
      const auto writer = writers_.find(base_of(graph(), read));
      if (writer != writers_.end() && writer->second != &node)
        refuse(node,
               fmt::format("reads {}, which another node here updates in place", quoted(graph().values[read].name)));
    }
  }
}

std::optional<Point> Lowering::regrouped(const Point& point, const TensorMeta& meta, const TensorMeta& other) {
  return point_at(other, memory_place(meta, made_.atoms.resolved(point)), made_.atoms);
}

//! By loops where they fall into the dimensions, else by divisions.
Point Lowering::point_in(const TensorMeta& dense, const Affine& place) {
  if (const auto point = point_at(dense, place, made_.atoms)) return *point;
  Point point(dense.sizes.size());
  Affine left = place;
  for (const std::size_t dim : dimensions_by_stride(dense)) {
    point[dim] = dense.strides[dim] == 1 ? left : quotient(left, dense.strides[dim]);
    if (dense.strides[dim] != 1) left = rest(left, dense.strides[dim]);
  }
  return point;
}

int Lowering::reshaped(ValueId value, const Point& point, const TensorMeta& shape) {
  const TensorMeta& meta = graph().values[value].meta;
  const TensorMeta in_order{meta.dtype, meta.sizes, contiguous_strides(meta.sizes)};
  const TensorMeta result{shape.dtype, shape.sizes, contiguous_strides(shape.sizes)};
  return value_at(value, point_in(in_order, memory_place(result, made_.atoms.resolved(point))));
}

void Lowering::add_output(ValueId value) {
  const TensorMeta& meta = graph().values[value].meta;
  Point point;
  if (made_.outputs.empty()) {
    point = first_ = whole(meta);
  } else if (const auto covering = point_of_kin(value)) {
    point = *covering;
  } else {
    point = point_like_first(value);
  }
  const int term = value_at(value, point);
  made_.outputs.push_back({value, term, memory_place(meta, made_.atoms.resolved(point))});
}

//! The first output's, where both have the same sizes; dimensions of one element, which reductions may keep, aside.
Point Lowering::point_like_first(ValueId value) const {
  const Value &first = graph().values[made_.outputs.front().value], &other = graph().values[value];
  const auto larger_sizes = [](std::vector<std::int64_t> sizes) {
    std::erase(sizes, 1);
    return sizes;
  };
  if (larger_sizes(first.meta.sizes) != larger_sizes(other.meta.sizes))
    reject(Status::plan_error, at_,
           fmt::format("{} and {} must both be written, but have different sizes, {} and {}: fuse them apart",
                       quoted(first.name), quoted(other.name), to_string(first.meta), to_string(other.meta)));
  Point point(other.meta.sizes.size());
  std::size_t of_first = 0;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (other.meta.sizes[i] == 1) continue;
    while (first.meta.sizes[of_first] == 1) ++of_first;
    point[i] = first_[of_first++];
  }
  return point;
}

//! Where the loops of outputs before this one pass every element of it, too; some perhaps many times.
std::optional<Point> Lowering::covering_point(ValueId value) const {
  for (auto at = known_.lower_bound({value, {}, -1}); at != known_.end(); ++at) {
    const auto& [of, point, condition] = at->first;
    if (of != value) break;
    const Point resolved = made_.atoms.resolved(point);
    if (condition < 0 && made_.atoms.pass_once(resolved, graph().values[value].meta.sizes)) return resolved;
  }
  return std::nullopt;
}

//! The same, or where they pass something of these sizes that it is made of.
std::optional<Point> Lowering::point_of_kin(ValueId value) const {
  if (auto point = covering_point(value)) return point;
  if (!region_.makes(value)) return std::nullopt;
  for (const ValueId read : OpGraph::reads(graph().nodes[graph().values[value].node]))
    if (graph().values[read].meta.sizes == graph().values[value].meta.sizes)
      if (auto point = point_of_kin(read)) return point;
  return std::nullopt;
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
  const Point resolved = made_.atoms.resolved(point);
  if (const auto known = known_.find({id, resolved, condition_}); known != known_.end()) return known->second;
  const int term = region_.makes(id) ? lower_node(id, resolved) : load(id, resolved);
  known_.emplace(std::tuple{id, made_.atoms.resolved(point), condition_}, term);
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
  if (base.meta.dtype != view.meta.dtype)
    reject(Status::plan_error, at_,
           fmt::format("{} sees the bytes of {} as another type; leave one of them out of the fusion",
                       quoted(view.name), quoted(base.name)));
  Affine place = memory_place(view.meta, made_.atoms.resolved(point));
  place.offset += view.view->offset_elements;
  return value_at(view.view->base, point_in(base.meta, place));
}

int Lowering::load(ValueId value, const Point& point) {
  const TensorMeta& meta = graph().values[value].meta;
  if (meta.dtype == DType::f64)
    reject(Status::plan_error, at_,
           fmt::format("{} is fp64, which is not written; leave its node to the library",
                       quoted(graph().values[value].name)));
  const Affine place = memory_place(meta, point);
  Affine looped{place.offset, {}}, computed;
  for (const auto& [atom, factor] : place.factors) (made_.atoms.computed(atom) ? computed : looped).add(atom, factor);
  if (computed.factors.empty() && condition_ < 0)
    return add({TermKind::load, scalar_kind(meta.dtype), {}, {}, value, place, {}});
  if (gathers_ == Gathers::refused)
    reject(Status::plan_error, at_,
           fmt::format("{} is read at indices that are computed, which this technique does not write; fuse what moves "
                       "its elements apart",
                       quoted(graph().values[value].name)));
  std::vector<int> operands = {position(computed)};
  if (condition_ >= 0) operands.push_back(condition_);
  return add({TermKind::gather, scalar_kind(meta.dtype), {}, std::move(operands), value, looped, {}});
}

int Lowering::lower_node(ValueId id, const Point& point) {
  const Value& value = graph().values[id];
  const Node& node = graph().nodes[value.node];
  if (value.meta.dtype == DType::f64) refuse(node, "gives fp64, which is not written");
  if (!node.writes_state.empty() && base_name(node.op).ends_with('_')) refuse(node, "works in place, and is read");
  const OperatorRule* rule = rule_of(node);
  if (rule == nullptr) refuse(node, fmt::format("is {}, which is not written", node.op));
  const int term = narrowed(value.meta.dtype, as(scalar_kind(value.meta.dtype), (*rule)({*this, node, value, point})));
  return casts_to_half(id) ? rounded(value.meta.dtype, term) : term;
}

//! Whoever casts to 16 bits may want to see what is lost; only then do values between nodes lose it. A result that
//! nobody here reads is rounded when it is stored.
bool Lowering::casts_to_half(ValueId id) const {
  const Value& value = graph().values[id];
  const Node& node = graph().nodes[value.node];
  const std::string_view name = base_name(node.op);
  const auto* from = argument_as<ValueRef>(node, 0, "self");
  if ((name != "to" && name != "_to_copy") || from == nullptr) return false;
  if (value.meta.dtype != DType::f16 && value.meta.dtype != DType::bf16) return false;
  return graph().values[from->id].meta.dtype != value.meta.dtype && region_.reads(id);
}

int Lowering::rounded(DType dtype, int term) {
  return map(ScalarKind::real, fmt::format("cudal1::to_float(cudal1::from_float<{}>({{0}}))", cuda_element_name(dtype)),
             {term});
}

//! Kernels compute integers in 64 bits, PyTorch in the tensor's own: its overflows must be ours. What is read from a
//! tensor of this type has no others.
int Lowering::narrowed(DType dtype, int term) {
  if (scalar_kind(dtype) != ScalarKind::integer || dtype == DType::i64) return term;
  const Term& wide = made_.terms[term];
  if (is_read(wide) && graph().values[wide.value].meta.dtype == dtype) return term;
  return map(ScalarKind::integer, fmt::format("static_cast<{}>({{0}})", cuda_element_name(dtype)), {term});
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
  if (made_.terms.size() >= most_terms)
    reject(Status::plan_error, at_,
           fmt::format("these nodes become more than {} terms, since some are needed at many indices; fuse fewer",
                       most_terms));
  made_.terms.push_back(std::move(term));
  return static_cast<int>(made_.terms.size()) - 1;
}

int Lowering::map(ScalarKind kind, std::string code, std::vector<int> operands) {
  const auto [known, fresh] = known_maps_.emplace(std::pair{fmt::format("{} {}", cuda_name(kind), code), operands},
                                                  static_cast<int>(made_.terms.size()));
  return fresh ? add({TermKind::map, kind, std::move(code), std::move(operands)}) : known->second;
}

int Lowering::constant(ScalarKind kind, double number) { return literal_term(kind, literal(kind, number)); }

int Lowering::constant(std::int64_t number) {
  return literal_term(ScalarKind::integer,
                      number == INT64_MIN ? "(-9223372036854775807ll - 1)" : fmt::format("({}ll)", number));
}

//! Known ones again: terms that are made of the same terms are then the same.
int Lowering::literal_term(ScalarKind kind, std::string text) {
  const std::string key = fmt::format("{} = {}", cuda_name(kind), text);
  const auto [known, fresh] =
      known_maps_.emplace(std::pair{key, std::vector<int>{}}, static_cast<int>(made_.terms.size()));
  return fresh ? add({TermKind::constant, kind, std::move(text)}) : known->second;
}

int Lowering::position(const Affine& unresolved) {
  const Affine index = made_.atoms.resolved(unresolved);
  if (const auto known = known_positions_.find(index); known != known_positions_.end()) return known->second;
  Affine looped{index.offset, {}};
  int sum = -1;
  for (const auto& [atom, factor] : index.factors) {
    if (!made_.atoms.computed(atom)) {
      looped.add(atom, factor);
      continue;
    }
    int part = value_of_atom(atom);
    if (factor != 1) part = map(ScalarKind::integer, fmt::format("{{0}} * ({}ll)", factor), {part});
    sum = sum < 0 ? part : map(ScalarKind::integer, "{0} + {1}", {sum, part});
  }
  int made = sum;
  if (sum < 0 || looped != Affine{}) made = add({TermKind::position, ScalarKind::integer, {}, {}, -1, looped, {}});
  if (sum >= 0 && made != sum) made = map(ScalarKind::integer, "{0} + {1}", {sum, made});
  known_positions_.emplace(index, made);
  return made;
}

int Lowering::value_of_atom(int atom) {
  const AtomTable::Computed computed = *made_.atoms.computed(atom);
  if (computed.term >= 0) return computed.term;
  return map(ScalarKind::integer, fmt::format("{{0}} {} {}ll", computed.is_rest ? '%' : '/', computed.divisor),
             {value_of_atom(computed.whole)});
}

Affine Lowering::computed_index(int term, std::int64_t size) {
  Affine index;
  if (size == 1) return index;
  const auto [known, fresh] = computed_atoms_.emplace(std::pair{term, size}, made_.atoms.count());
  if (fresh) made_.atoms.add_computed(size, term);
  index.add(known->second, 1);
  return index;
}

//! As sums of whole atoms, split where it helps.
std::optional<std::pair<Affine, Affine>> Lowering::divided(const Affine& unresolved, std::int64_t divisor) {
  Affine index = made_.atoms.resolved(unresolved);
  if (index.offset != 0) return std::nullopt;
  for (const auto& [atom, factor] : index.factors) {
    const std::int64_t inner = factor > 0 && divisor % factor == 0 ? divisor / factor : 0;
    if (inner > 1 && made_.atoms.size(atom) > inner && made_.atoms.size(atom) % inner == 0)
      made_.atoms.split(atom, inner);
  }
  index = made_.atoms.resolved(index);
  Affine whole, rest;
  for (const auto& [atom, factor] : index.factors)
    factor % divisor == 0 ? whole.add(atom, factor / divisor) : rest.add(atom, factor);
  if (made_.atoms.smallest(rest) < 0 || made_.atoms.largest(rest) >= divisor) return std::nullopt;
  return std::pair{whole, rest};
}

Affine Lowering::quotient(const Affine& index, std::int64_t divisor) {
  if (const auto parts = divided(index, divisor)) return parts->first;
  const std::int64_t size = made_.atoms.largest(made_.atoms.resolved(index)) / divisor + 1;
  return computed_index(map(ScalarKind::integer, fmt::format("{{0}} / {}ll", divisor), {position(index)}), size);
}

Affine Lowering::rest(const Affine& index, std::int64_t divisor) {
  if (const auto parts = divided(index, divisor)) return parts->second;
  return computed_index(map(ScalarKind::integer, fmt::format("{{0}} % {}ll", divisor), {position(index)}), divisor);
}

int Lowering::only_where(int condition, const std::function<int()>& value) {
  const int before = condition_;
  condition_ = before < 0 ? condition : map(ScalarKind::boolean, "{0} && {1}", {before, condition});
  const int term = value();
  condition_ = before;
  return term;
}

int Lowering::reduce(ScalarKind kind, std::string operation, std::vector<int> elements, std::vector<int> loops) {
  if (condition_ >= 0)
    reject(Status::plan_error, at_,
           "a reduction whose result only some elements need (of cat, stack, pad …) is not written; fuse them apart");
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

//! The index must run through the dimension, forwards or backwards: then loops pass it in order.
int Lowering::scan(const Node& node, ScalarKind kind, std::string operation, int element, const Affine& index,
                   std::int64_t size) {
  const Affine at = made_.atoms.resolved(index);
  const bool is_one = at.factors.size() == 1 && !made_.atoms.computed(at.factors.front().first) &&
                      made_.atoms.size(at.factors.front().first) == size;
  const bool forwards = is_one && at.offset == 0 && at.factors.front().second == 1;
  const bool backwards = is_one && at.offset == size - 1 && at.factors.front().second == -1;
  if (!forwards && !backwards) refuse(node, "is read in another order than its dimension's");
  if (condition_ >= 0) refuse(node, "is needed by some elements only (of cat, stack, pad …)");
  return add({TermKind::scan, kind, std::move(operation), {element}, -1, at, {}});
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
