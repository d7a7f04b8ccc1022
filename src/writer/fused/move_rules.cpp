#include "writer/fused/move_rules.hpp"

#include <fmt/format.h>

#include <array>

#include "graph/operator_name.hpp"
#include "writer/fused/reduced.hpp"

namespace cudal1 {
namespace {

constexpr auto integer = ScalarKind::integer;
constexpr auto boolean = ScalarKind::boolean;

using Integers = std::vector<std::int64_t>;

//! A list of integers; one number is a list of one.
Integers integers(const RuleCall& call, std::size_t position, std::string_view name) {
  if (const auto* list = argument_as<Integers>(call.node, position, name)) return *list;
  if (const auto* one = argument_as<std::int64_t>(call.node, position, name)) return {*one};
  return {};
}

std::size_t dimension(const RuleCall& call, std::size_t position, std::size_t count) {
  const auto dim = static_cast<std::int64_t>(call.number(position, "dim", 0.0));
  return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(count) : dim);
}

//! The first argument there.
int source(const RuleCall& call, const Point& point) { return element_of(call, 0, point, call.result_kind()); }

ValueId tensor(const RuleCall& call, std::size_t position, std::string_view name) {
  const auto* ref = argument_as<ValueRef>(call.node, position, name);
  if (ref == nullptr || ref->id < 0) call.lowering.refuse(call.node, fmt::format("has no tensor {}", quoted(name)));
  return ref->id;
}

Affine shifted(Affine index, std::int64_t by) {
  index.offset += by;
  return index;
}

//! low <= index < high, where the index could be outside at all.
int inside(const RuleCall& call, const Affine& index, std::int64_t low, std::int64_t high) {
  const int at = call.lowering.position(index);
  return call.lowering.map(boolean, fmt::format("{{0}} >= ({}ll) && {{0}} < ({}ll)", low, high), {at});
}

// --- several tensors into one ----------------------------------------------------------------------------------------

struct Piece {
  ValueId value;
  std::int64_t begin, end;  //!< along the dimension
};

std::vector<Piece> pieces_of(const RuleCall& call, std::size_t dim) {
  const auto* list = argument_as<ValueList>(call.node, 0, "tensors");
  if (list == nullptr) call.lowering.refuse(call.node, "has no list of tensors");
  std::vector<Piece> pieces;
  std::int64_t at = 0;
  for (const ValueRef& ref : *list) {
    const TensorMeta& meta = call.lowering.graph().values[ref.id].meta;
    if (meta.sizes.size() != call.point.size()) continue;  // PyTorch lets [0] stand for nothing
    pieces.push_back({ref.id, at, at + meta.sizes[dim]});
    at += meta.sizes[dim];
  }
  return pieces;
}

//! Of the piece that an index falls into; the others are not read.
int chosen(const RuleCall& call, const Affine& index, const std::vector<Piece>& pieces,
           const std::function<int(const Piece&)>& value) {
  const ScalarKind kind = call.result_kind();
  Lowering& lowering = call.lowering;
  if (pieces.size() == 1) return lowering.as(kind, value(pieces.front()));
  int made = -1;
  for (std::size_t i = pieces.size(); i-- > 0;) {
    const Piece& piece = pieces[i];
    if (piece.begin == piece.end) continue;
    const int here = inside(call, index, piece.begin, piece.end);
    const int there = lowering.only_where(here, [&] { return lowering.as(kind, value(piece)); });
    made = made < 0 ? there : lowering.map(kind, "{0} ? {1} : {2}", {here, there, made});
  }
  return made < 0 ? lowering.constant(kind, 0.0) : made;
}

int cat(const RuleCall& call) {
  const std::size_t dim = dimension(call, 1, call.point.size());
  return chosen(call, call.point[dim], pieces_of(call, dim), [&](const Piece& piece) {
    Point point = call.point;
    const int index = call.lowering.position(shifted(call.point[dim], -piece.begin));
    if (piece.end - piece.begin != call.value.meta.sizes[dim])
      point[dim] = call.lowering.computed_index(index, piece.end - piece.begin);
    return call.lowering.value_at(piece.value, point);
  });
}

int stack(const RuleCall& call) {
  const std::size_t dim = dimension(call, 1, call.point.size());
  const auto* list = argument_as<ValueList>(call.node, 0, "tensors");
  if (list == nullptr) call.lowering.refuse(call.node, "has no list of tensors");
  std::vector<Piece> pieces;
  for (const ValueRef& ref : *list)
    pieces.push_back({ref.id, std::int64_t(pieces.size()), std::int64_t(pieces.size()) + 1});
  Point inner = call.point;
  inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(dim));
  return chosen(call, call.point[dim], pieces,
                [&](const Piece& piece) { return call.lowering.value_at(piece.value, inner); });
}

// --- borders ---------------------------------------------------------------------------------------------------------

enum class Border { constant, reflect, replicate, circular };

//! An index before or behind a dimension, as one inside it.
int from_border(const RuleCall& call, Border border, int index, std::int64_t size) {
  if (border == Border::replicate)
    return call.lowering.map(integer, fmt::format("{{0}} < 0 ? 0ll : {{0}} < {0}ll ? {{0}} : {1}ll", size, size - 1),
                             {index});
  if (border == Border::reflect)
    return call.lowering.map(
        integer, fmt::format("{{0}} < 0 ? -{{0}} : {{0}} < {0}ll ? {{0}} : {1}ll - {{0}}", size, 2 * (size - 1)),
        {index});
  return call.lowering.map(
      integer, fmt::format("{{0}} < 0 ? {{0}} + {0}ll : {{0}} < {0}ll ? {{0}} : {{0}} - {0}ll", size), {index});
}

int padded(const RuleCall& call, Border border, int value) {
  const Integers pads = integers(call, 1, "pad");
  const TensorMeta& meta = meta_of(call, 0, "self");
  Lowering& lowering = call.lowering;
  Point point = call.point;
  int condition = -1;
  for (std::size_t i = 0; 2 * i + 1 < pads.size(); ++i) {
    const std::size_t dim = meta.sizes.size() - 1 - i;
    const std::int64_t before = pads[2 * i], size = meta.sizes[dim];
    if (before == 0 && pads[2 * i + 1] == 0) continue;
    const Affine at = shifted(call.point[dim], -before);
    const int index = lowering.position(at);
    if (border != Border::constant) {
      point[dim] = lowering.computed_index(from_border(call, border, index, size), size);
      continue;
    }
    const int here = inside(call, at, 0, size);
    condition = condition < 0 ? here : lowering.map(boolean, "{0} && {1}", {condition, here});
    point[dim] = lowering.computed_index(index, size);
  }
  if (condition < 0) return source(call, point);
  const int there = lowering.only_where(condition, [&] { return source(call, point); });
  return lowering.map(call.result_kind(), "{0} ? {1} : {2}", {condition, there, value});
}

int constant_pad(const RuleCall& call) {
  return padded(call, Border::constant, call.operand_or(2, "value", call.result_kind(), 0.0));
}

OperatorRule padding_by(Border border) {
  return [border](const RuleCall& call) { return padded(call, border, -1); };
}

int pad(const RuleCall& call) {
  const auto* mode = argument_as<std::string>(call.node, 2, "mode");
  if (mode == nullptr || *mode == "constant")
    return padded(call, Border::constant, call.operand_or(3, "value", call.result_kind(), 0.0));
  return padded(call,
                *mode == "reflect"     ? Border::reflect
                : *mode == "replicate" ? Border::replicate
                                       : Border::circular,
                -1);
}

// --- one tensor in another order -------------------------------------------------------------------------------------

int flip(const RuleCall& call) {
  Point point = call.point;
  for (const std::int64_t given : integers(call, 1, "dims")) {
    const auto dim = static_cast<std::size_t>(given < 0 ? given + std::int64_t(point.size()) : given);
    Affine backwards{call.value.meta.sizes[dim] - 1, {}};
    backwards.add(call.point[dim], -1);
    point[dim] = backwards;
  }
  return source(call, point);
}

int roll(const RuleCall& call) {
  const Integers shifts = integers(call, 1, "shifts"), dims = integers(call, 2, "dims");
  if (dims.empty() && call.point.size() != 1) call.lowering.refuse(call.node, "rolls through all dimensions as one");
  Point point = call.point;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const std::int64_t given = dims.empty() ? 0 : dims[i];
    const auto dim = static_cast<std::size_t>(given < 0 ? given + std::int64_t(point.size()) : given);
    const std::int64_t size = call.value.meta.sizes[dim];
    if (size == 0 || shifts[i] % size == 0) continue;
    const std::int64_t shift = (shifts[i] % size + size) % size;
    const int index = call.lowering.position(point[dim]);
    point[dim] = call.lowering.computed_index(
        call.lowering.map(integer, fmt::format("{{0}} < {0}ll ? {{0}} + {1}ll : {{0}} - {0}ll", shift, size - shift),
                          {index}),
        size);
  }
  return source(call, point);
}

int repeat(const RuleCall& call) {
  const TensorMeta& meta = meta_of(call, 0, "self");
  const std::size_t more = call.point.size() - meta.sizes.size();
  Point point(meta.sizes.size());
  for (std::size_t dim = 0; dim < point.size(); ++dim)
    if (meta.sizes[dim] == call.value.meta.sizes[more + dim])
      point[dim] = call.point[more + dim];
    else if (meta.sizes[dim] != 1)
      point[dim] = call.lowering.rest(call.point[more + dim], meta.sizes[dim]);
  return source(call, point);
}

//! Each element so many times, along some dimensions.
int stretched(const RuleCall& call, std::size_t first_dim) {
  const TensorMeta& meta = meta_of(call, 0, "self");
  Point point = call.point;
  for (std::size_t dim = first_dim; dim < point.size(); ++dim) {
    const std::int64_t times = meta.sizes[dim] == 0 ? 1 : call.value.meta.sizes[dim] / meta.sizes[dim];
    if (times * meta.sizes[dim] != call.value.meta.sizes[dim])
      call.lowering.refuse(call.node, "stretches by what is no whole number");
    if (times != 1) point[dim] = call.lowering.quotient(call.point[dim], times);
  }
  return source(call, point);
}

//! One for each dimension behind the second, where there is one: in a list, or as arguments of their own.
std::vector<std::optional<double>> given_scales(const RuleCall& call, std::size_t dims) {
  constexpr std::array<std::string_view, 3> names = {"scales_d", "scales_h", "scales_w"};
  if (const auto* list = argument_as<std::vector<double>>(call.node, 2, "scale_factors"))
    return {list->begin(), list->end()};
  std::vector<std::optional<double>> scales(dims);
  for (std::size_t i = 0; i < dims; ++i) {
    const std::string_view name = dims == 1 ? "scales" : names[names.size() - dims + i];
    if (call.has(2 + i, name)) scales[i] = call.number(2 + i, name, 1.0);
  }
  return scales;
}

//! Scales that are given count more than sizes do; only where they agree is the quotient right.
int upsample_nearest(const RuleCall& call) {
  const TensorMeta& meta = meta_of(call, 0, "self");
  const std::vector<std::optional<double>> scales = given_scales(call, meta.sizes.size() - 2);
  for (std::size_t i = 0; i < scales.size(); ++i)
    if (scales[i] &&
        *scales[i] * static_cast<double>(meta.sizes[i + 2]) != static_cast<double>(call.value.meta.sizes[i + 2]))
      call.lowering.refuse(call.node, "stretches by what is no whole number");
  return stretched(call, 2);
}

int repeat_interleave(const RuleCall& call) {
  if (argument_as<std::int64_t>(call.node, 1, "repeats") == nullptr || !call.has(2, "dim"))
    call.lowering.refuse(call.node, "repeats by a tensor, or through all dimensions as one");
  return stretched(call, 0);
}

int pixel_shuffle(const RuleCall& call) {
  const auto factor = static_cast<std::int64_t>(call.number(1, "upscale_factor", 1.0));
  const std::size_t row = call.point.size() - 2, column = row + 1, channel = row - 1;
  Lowering& lowering = call.lowering;
  Point point = call.point;
  point[row] = lowering.quotient(call.point[row], factor);
  point[column] = lowering.quotient(call.point[column], factor);
  point[channel] = {};
  point[channel].add(call.point[channel], factor * factor);
  point[channel].add(lowering.rest(call.point[row], factor), factor);
  point[channel].add(lowering.rest(call.point[column], factor), 1);
  return source(call, point);
}

int pixel_unshuffle(const RuleCall& call) {
  const auto factor = static_cast<std::int64_t>(call.number(1, "downscale_factor", 1.0));
  const std::size_t row = call.point.size() - 2, column = row + 1, channel = row - 1;
  Lowering& lowering = call.lowering;
  const Affine inside_pixel = lowering.rest(call.point[channel], factor * factor);
  Point point = call.point;
  point[channel] = lowering.quotient(call.point[channel], factor * factor);
  point[row] = lowering.quotient(inside_pixel, factor);
  point[row].add(call.point[row], factor);
  point[column] = lowering.rest(inside_pixel, factor);
  point[column].add(call.point[column], factor);
  return source(call, point);
}

//! One half of a dimension times the sigmoid of the other.
int glu(const RuleCall& call) {
  const auto given = static_cast<std::int64_t>(call.number(1, "dim", -1.0));
  const auto dim = static_cast<std::size_t>(given < 0 ? given + std::int64_t(call.point.size()) : given);
  Point gate = call.point;
  gate[dim].offset += call.value.meta.sizes[dim];
  constexpr auto real = ScalarKind::real;
  return call.lowering.map(real, "{0} * cudal1::sigmoid({1})",
                           {element_of(call, 0, call.point, real), element_of(call, 0, gate, real)});
}

//! A copy in another shape, where no view would do.
int reshape(const RuleCall& call) {
  return call.lowering.reshaped(tensor(call, 0, "self"), call.point, call.value.meta);
}

// --- indices that a tensor holds -------------------------------------------------------------------------------------

//! Where a tensor says, in a dimension of this size; negative ones count from its end.
Affine said_by(const RuleCall& call, ValueId indices, const Point& point, std::int64_t size) {
  const int index = call.lowering.as(integer, call.lowering.value_at(indices, point));
  return call.lowering.computed_index(
      call.lowering.map(integer, fmt::format("{{0}} < 0 ? {{0}} + {}ll : {{0}}", size), {index}), size);
}

int embedding(const RuleCall& call) {
  const Point outer(call.point.begin(), call.point.end() - 1);
  const Affine row = said_by(call, tensor(call, 1, "indices"), outer, meta_of(call, 0, "weight").sizes[0]);
  return source(call, {row, call.point.back()});
}

int index_select(const RuleCall& call) {
  const std::size_t dim = dimension(call, 1, call.point.size());
  Point point = call.point;
  point[dim] = said_by(call, tensor(call, 2, "index"), {call.point[dim]}, meta_of(call, 0, "self").sizes[dim]);
  return source(call, point);
}

int gather(const RuleCall& call) {
  const std::size_t dim = dimension(call, 1, call.point.size());
  Point point = call.point;
  point[dim] = said_by(call, tensor(call, 2, "index"), call.point, meta_of(call, 0, "self").sizes[dim]);
  return source(call, point);
}

//! x[:, indices]: one tensor of indices, whose dimensions take the place of one of x.
int index(const RuleCall& call) {
  const auto* list = argument_as<ValueList>(call.node, 1, "indices");
  std::size_t dim = 0, given = 0;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
    if ((*list)[i].id >= 0) ++given, dim = i;
  if (given != 1) call.lowering.refuse(call.node, "is indexed by more than one tensor");
  const TensorMeta& indices = call.lowering.graph().values[(*list)[dim].id].meta;
  if (scalar_kind(indices.dtype) != integer) call.lowering.refuse(call.node, "is indexed by a mask");
  const auto begin = call.point.begin() + static_cast<std::ptrdiff_t>(dim);
  const auto end = begin + static_cast<std::ptrdiff_t>(indices.sizes.size());
  Point point(call.point.begin(), begin);
  point.push_back(said_by(call, (*list)[dim].id, Point(begin, end), meta_of(call, 0, "self").sizes[dim]));
  point.insert(point.end(), end, call.point.end());
  return source(call, point);
}

//! A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector.
int diag(const RuleCall& call) {
  const auto above = static_cast<std::int64_t>(call.number(1, "diagonal", 0.0));
  const std::int64_t down = std::max<std::int64_t>(0, -above), right = std::max<std::int64_t>(0, above);
  if (call.point.size() == 1) return source(call, {shifted(call.point[0], down), shifted(call.point[0], right)});
  Affine across = shifted(call.point[1], -above);
  across.add(call.point[0], -1);
  const int on_it = call.lowering.map(boolean, "{0} == 0", {call.lowering.position(across)});
  const Affine at = above < 0 ? call.point[1] : call.point[0];
  const std::int64_t size = meta_of(call, 0, "self").sizes[0];
  const int there = call.lowering.only_where(
      on_it, [&] { return source(call, {call.lowering.computed_index(call.lowering.position(at), size)}); });
  return call.lowering.map(call.result_kind(), "{0} ? {1} : {2}",
                           {on_it, there, call.lowering.constant(call.result_kind(), 0.0)});
}

// --- a tensor with a part of it replaced -----------------------------------------------------------------------------

int replaced(const RuleCall& call, int condition, const std::function<int()>& part) {
  const ScalarKind kind = call.result_kind();
  const int there = call.lowering.only_where(condition, part);
  const int elsewhere = call.lowering.only_where(call.lowering.map(boolean, "!{0}", {condition}),
                                                 [&] { return source(call, call.point); });
  return call.lowering.map(kind, "{0} ? {1} : {2}", {condition, there, elsewhere});
}

int select_scatter(const RuleCall& call) {
  const std::size_t dim = dimension(call, 2, call.point.size());
  auto wanted = static_cast<std::int64_t>(call.number(3, "index", 0.0));
  if (wanted < 0) wanted += call.value.meta.sizes[dim];
  Point inner = call.point;
  inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(dim));
  return replaced(call, inside(call, call.point[dim], wanted, wanted + 1),
                  [&] { return element_of(call, 1, inner, call.result_kind()); });
}

int slice_scatter(const RuleCall& call) {
  const std::size_t dim = dimension(call, 2, call.point.size());
  if (call.number(5, "step", 1.0) != 1.0) call.lowering.refuse(call.node, "writes a slice with gaps");
  const std::int64_t size = call.value.meta.sizes[dim], length = meta_of(call, 1, "src").sizes[dim];
  auto start = static_cast<std::int64_t>(call.number(3, "start", 0.0));
  start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  return replaced(call, inside(call, call.point[dim], start, start + length), [&] {
    Point point = call.point;
    point[dim] = call.lowering.computed_index(call.lowering.position(shifted(call.point[dim], -start)), length);
    return element_of(call, 1, point, call.result_kind());
  });
}

}  // namespace

void add_move_rules(OperatorRules& rules) {
  for (const char* name : {"cat", "concat", "concatenate"}) rules.emplace(name, cat);
  rules.emplace("stack", stack);
  rules.emplace("constant_pad_nd", constant_pad);
  rules.emplace("pad", pad);
  for (const char* name : {"reflection_pad1d", "reflection_pad2d", "reflection_pad3d"})
    rules.emplace(name, padding_by(Border::reflect));
  for (const char* name : {"replication_pad1d", "replication_pad2d", "replication_pad3d"})
    rules.emplace(name, padding_by(Border::replicate));
  rules.emplace("flip", flip);
  rules.emplace("roll", roll);
  for (const char* name : {"repeat", "tile"}) rules.emplace(name, repeat);
  rules.emplace("repeat_interleave", repeat_interleave);
  for (const char* name : {"upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"})
    rules.emplace(name, upsample_nearest);
  rules.emplace("pixel_shuffle", pixel_shuffle);
  rules.emplace("pixel_unshuffle", pixel_unshuffle);
  rules.emplace("glu", glu);
  rules.emplace("diag", diag);
  for (const char* name : {"reshape", "flatten", "_unsafe_view", "view_copy", "unflatten"})
    rules.emplace(name, reshape);
  rules.emplace("embedding", embedding);
  rules.emplace("index_select", index_select);
  rules.emplace("gather", gather);
  rules.emplace("index", index);
  rules.emplace("select_scatter", select_scatter);
  rules.emplace("slice_scatter", slice_scatter);
}

}  // namespace cudal1
