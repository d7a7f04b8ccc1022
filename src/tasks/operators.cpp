#include "tasks/operators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::ordered_json;

struct UnaryForm {
  std::string_view kind, op, python, more_args = "[]", kwargs = "{}";
};

constexpr std::array unary_forms{
    UnaryForm{"relu", "relu", "torch.relu({0})"},
    UnaryForm{"gelu", "gelu", "F.gelu({0})"},
    UnaryForm{"gelu_tanh", "gelu", "F.gelu({0}, approximate=\"tanh\")", "[]", R"({"approximate": {"string": "tanh"}})"},
    UnaryForm{"silu", "silu", "F.silu({0})"},
    UnaryForm{"tanh", "tanh", "torch.tanh({0})"},
    UnaryForm{"sigmoid", "sigmoid", "torch.sigmoid({0})"},
    UnaryForm{"leaky_relu", "leaky_relu", "F.leaky_relu({0}, 0.1)", "[0.1]"},
    UnaryForm{"elu", "elu", "F.elu({0})", "[1.0]"},
    UnaryForm{"hardswish", "hardswish", "F.hardswish({0})"},
    UnaryForm{"softplus", "softplus", "F.softplus({0})"},
    UnaryForm{"mish", "mish", "F.mish({0})"},
    UnaryForm{"clamp", "clamp", "torch.clamp({0}, -1.0, 1.0)", "[-1.0, 1.0]"},
    UnaryForm{"square", "square", "torch.square({0})"},
    UnaryForm{"abs", "abs", "torch.abs({0})"},
    UnaryForm{"neg", "neg", "-{0}"},
    UnaryForm{"sin", "sin", "torch.sin({0})"},
    UnaryForm{"erf", "erf", "torch.erf({0})"},
    UnaryForm{"exp", "exp", "torch.exp({0})"},
    UnaryForm{"sqrt", "sqrt", "torch.sqrt({0})"},
};

constexpr std::array<std::string_view, 11> activation_kinds{
    "relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "leaky_relu", "elu", "hardswish", "softplus", "mish"};
constexpr std::array<std::string_view, 7> smooth_activation_kinds{"gelu",    "gelu_tanh", "silu", "tanh",
                                                                  "sigmoid", "softplus",  "mish"};
constexpr std::array<std::string_view, 5> gentle_kinds{"clamp", "abs", "neg", "sin", "erf"};
constexpr std::array<std::string_view, 3> smooth_gentle_kinds{"neg", "sin", "erf"};
constexpr std::array<std::string_view, 6> one_sign_kinds{"relu", "sigmoid", "softplus", "square", "abs", "sqrt"};

NumberRange range_after(std::string_view kind, NumberRange before) {
  const bool is_one_sign = std::ranges::find(one_sign_kinds, kind) != one_sign_kinds.end();
  return is_one_sign ? std::max(before, NumberRange::one_sign) : before;
}

ModuleValue with_range(ModuleValue value, NumberRange range) {
  value.range = range;
  return value;
}

//! As a node's argument and as Python: both take the shortest text that gives this number back.
std::string number_text(double number) { return ordered_json(number).dump(); }

Shape broadcast(const Shape& x, const Shape& y) {
  Shape result(std::max(x.size(), y.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t a = i < x.size() ? x[x.size() - 1 - i] : 1, b = i < y.size() ? y[y.size() - 1 - i] : 1;
    if (a != b && a != 1 && b != 1) throw Error("a generated module adds tensors that do not fit");
    result[result.size() - 1 - i] = a == 1 ? b : a;
  }
  return result;
}

std::size_t place_of(const Shape& sizes, std::int64_t dim) {
  return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(sizes.size()) : dim);
}

}  // namespace

std::span<const std::string_view> activations(NumberRange range) {
  if (range == NumberRange::far) return {};
  if (range == NumberRange::one_sign) return smooth_activation_kinds;
  return activation_kinds;
}

std::span<const std::string_view> gentle_functions(NumberRange range) {
  if (range == NumberRange::far) return {};
  if (range == NumberRange::one_sign) return smooth_gentle_kinds;
  return gentle_kinds;
}

ModuleValue unary(Module& module, std::string_view kind, const ModuleValue& x) {
  const auto form = std::ranges::find(unary_forms, kind, &UnaryForm::kind);
  if (form == unary_forms.end()) throw Error(fmt::format("generated modules know no function \"{}\"", kind));
  ordered_json args = ordered_json::array({x.name});
  for (const ordered_json& more : ordered_json::parse(form->more_args)) args.push_back(more);
  const std::string name = module.node(fmt::format("aten::{}", form->op), args, ordered_json::parse(form->kwargs));
  return with_range(module.statement(std::string(form->python), {x}, name, x.sizes), range_after(kind, x.range));
}

ModuleValue binary(Module& module, std::string_view kind, const ModuleValue& x, const ModuleValue& y) {
  const bool is_function = kind == "maximum" || kind == "minimum";
  const std::string_view sign = kind == "add" ? "+" : kind == "sub" ? "-" : kind == "div" ? "/" : "*";
  const std::string name =
      module.node(fmt::format("aten::{}{}", kind, is_function ? "" : ".Tensor"), ordered_json::array({x.name, y.name}));
  const std::string python =
      is_function ? fmt::format("torch.{}({{0}}, {{1}})", kind) : fmt::format("{{0}} {} {{1}}", sign);
  // One operand of both signs gives them to the result; a larger or smaller one may be all there is of an extremum.
  const NumberRange range = is_function ? std::max(x.range, y.range) : std::min(x.range, y.range);
  return with_range(module.statement(python, {x, y}, name, broadcast(x.sizes, y.sizes)), range);
}

ModuleValue divide(Module& module, const ModuleValue& x, const ModuleValue& y) { return binary(module, "div", x, y); }

ModuleValue with_number(Module& module, std::string_view kind, const ModuleValue& x, double number) {
  const std::string_view sign = kind == "add" ? "+" : kind == "sub" ? "-" : kind == "div" ? "/" : "*";
  const std::string name = module.node(fmt::format("aten::{}.Tensor", kind), ordered_json::array({x.name, number}));
  return with_range(module.statement(fmt::format("{{0}} {} {}", sign, number_text(number)), {x}, name, x.sizes),
                    x.range);
}

ModuleValue reduce(Module& module, std::string_view kind, const ModuleValue& x, std::int64_t dim, bool keep) {
  const std::string_view op = kind == "sum"    ? "sum.dim_IntList"
                              : kind == "mean" ? "mean.dim"
                              : kind == "var"  ? "var.dim"
                              : kind == "norm" ? "linalg_vector_norm"
                                               : kind;
  ordered_json args = ordered_json::array({x.name});
  if (kind == "norm") args.push_back(2);
  args.push_back(ordered_json::array({dim}));
  if (kind == "var") args.push_back(true);  // Bessel's correction
  if (keep) args.push_back(true);
  const std::string name = module.node(fmt::format("aten::{}", op), args);
  Shape sizes = x.sizes;
  const auto place = sizes.begin() + static_cast<std::ptrdiff_t>(place_of(sizes, dim));
  if (keep)
    *place = 1;
  else
    sizes.erase(place);
  const std::string_view function = kind == "norm" ? "linalg.vector_norm" : kind;
  const std::string python = fmt::format("torch.{}({{0}}, dim={}{})", function, dim, keep ? ", keepdim=True" : "");
  return with_range(module.statement(python, {x}, name, sizes), NumberRange::far);
}

ModuleValue spatial_mean(Module& module, const ModuleValue& x) {
  ordered_json dims = ordered_json::array();
  for (std::size_t i = 2; i < x.sizes.size(); ++i) dims.push_back(i);
  const std::string name = module.node("aten::mean.dim", ordered_json::array({x.name, dims}));
  const std::string python = fmt::format("torch.mean({{0}}, dim={})", dims.dump());
  return with_range(module.statement(python, {x}, name, {x.sizes[0], x.sizes[1]}), NumberRange::far);
}

ModuleValue along(Module& module, std::string_view kind, const ModuleValue& x, std::int64_t dim) {
  const bool is_scan = kind == "cumsum";
  const std::string name =
      module.node(fmt::format("aten::{}{}", kind, is_scan ? "" : ".int"), ordered_json::array({x.name, dim}));
  const std::string python = fmt::format("{}.{}({{0}}, dim={})", is_scan ? "torch" : "F", kind, dim);
  return with_range(module.statement(python, {x}, name, x.sizes), NumberRange::far);
}

ModuleValue normalize(Module& module, const ModuleValue& x) {
  const ordered_json last = ordered_json::array({-1});
  const std::string length = module.node("aten::linalg_vector_norm", ordered_json::array({x.name, 2.0, last, true}));
  const std::string least = module.node("aten::clamp_min", ordered_json::array({length, 1e-12}));
  const std::string wide = module.node("aten::expand_as", ordered_json::array({least, x.name}));
  const std::string name = module.node("aten::div.Tensor", ordered_json::array({x.name, wide}));
  return with_range(module.statement("F.normalize({0}, dim=-1)", {x}, name, x.sizes), NumberRange::far);
}

ModuleValue matmul(Module& module, const ModuleValue& x, const ModuleValue& y) {
  const std::string name = module.node("aten::matmul", ordered_json::array({x.name, y.name}));
  const Shape& left = x.sizes;
  const Shape& right = y.sizes;
  if (left.back() != right[right.size() - 2]) throw Error("a generated module multiplies matrices that do not fit");
  Shape sizes = broadcast(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2));
  sizes.push_back(left[left.size() - 2]);
  sizes.push_back(right.back());
  return module.statement("torch.matmul({0}, {1})", {x, y}, name, sizes);
}

ModuleValue attention(Module& module, const ModuleValue& query, const ModuleValue& key, const ModuleValue& value,
                      bool causal) {
  ordered_json args = ordered_json::array({query.name, key.name, value.name});
  if (causal) args.insert(args.end(), {ordered_json(nullptr), ordered_json(0.0), ordered_json(true)});
  const std::string name = module.node("aten::scaled_dot_product_attention", args);
  Shape sizes = query.sizes;
  sizes.back() = value.sizes.back();
  return module.statement(
      fmt::format("F.scaled_dot_product_attention({{0}}, {{1}}, {{2}}{})", causal ? ", is_causal=True" : ""),
      {query, key, value}, name, sizes);
}

ModuleValue transpose(Module& module, const ModuleValue& x, std::int64_t a, std::int64_t b) {
  const std::string name = module.node("aten::transpose.int", ordered_json::array({x.name, a, b}));
  Shape sizes = x.sizes;
  std::swap(sizes[place_of(sizes, a)], sizes[place_of(sizes, b)]);
  return with_range(module.statement(fmt::format("{{0}}.transpose({}, {})", a, b), {x}, name, sizes), x.range);
}

ModuleValue reshape(Module& module, const ModuleValue& x, const Shape& sizes) {
  const std::string name = module.node("aten::reshape", ordered_json::array({x.name, sizes}));
  const std::string python = fmt::format("{{0}}.reshape({})", fmt::join(sizes, ", "));
  return with_range(module.statement(python, {x}, name, sizes), x.range);
}

ModuleValue contiguous(Module& module, const ModuleValue& x) {
  const std::string name = module.node("aten::contiguous", ordered_json::array({x.name}));
  return with_range(module.statement("{0}.contiguous()", {x}, name, x.sizes), x.range);
}

ModuleValue concatenate(Module& module, const std::vector<ModuleValue>& parts, std::int64_t dim) {
  ordered_json names = ordered_json::array();
  std::vector<std::string> places;
  Shape sizes = parts.front().sizes;
  const std::size_t place = place_of(sizes, dim);
  sizes[place] = 0;
  for (const ModuleValue& part : parts) {
    places.push_back(fmt::format("{{{}}}", places.size()));
    names.push_back(part.name);
    sizes[place] += part.sizes[place];
  }
  const std::string name = module.node("aten::cat", ordered_json::array({names, dim}));
  return module.statement(fmt::format("torch.cat([{}], dim={})", fmt::join(places, ", "), dim), parts, name, sizes);
}

std::vector<ModuleValue> chunk(Module& module, const ModuleValue& x, std::int64_t parts) {
  const std::string name = module.node("aten::chunk", ordered_json::array({x.name, parts, -1}));
  Shape sizes = x.sizes;
  sizes.back() /= parts;
  std::vector<std::pair<std::string, Shape>> results{{name, sizes}};
  for (std::int64_t i = 1; i < parts; ++i) results.emplace_back(fmt::format("{}[{}]", name, i), sizes);
  std::vector<ModuleValue> made = module.statement(fmt::format("torch.chunk({{0}}, {}, dim=-1)", parts), {x}, results);
  for (ModuleValue& part : made) part.range = x.range;
  return made;
}

}  // namespace cudal1
