#include "writer/fused/window_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cudal1 {
namespace {

constexpr std::int64_t near = std::int64_t{1} << 30;  // what an int counts, also a few more
constexpr std::int64_t most_unrolled = 128;           // reads that are written out one by one; more take all registers

//! Reads of column terms, said by columns.
FusedTerms terms_by_column(const WindowSpace& space, const WindowShape& shape, int& column) {
  FusedTerms fused = space.fused;
  if (!shape.slide) return fused;
  const Slide& slide = *shape.slide;
  column = fused.atoms.add(slide.columns(shape.items));
  const auto moved = [&](Affine place) {
    const std::int64_t inside = place.factor_of(slide.inside);
    place.add(slide.inside, -inside);
    place.add(column, inside / slide.dilation);
    return place;
  };
  for (Term& term : fused.terms) {
    if (term.kind == TermKind::load) term.place = moved(term.place);
    for (WindowDim& window : term.windows) window.index = moved(window.index);
  }
  return fused;
}

bool adds_places(const Term& reduction) { return reduction.code.find("PoolMax") != std::string::npos; }

template <class T>
std::vector<T> moved_to_end(std::vector<T> list, std::size_t which) {
  std::rotate(list.begin() + std::ptrdiff_t(which), list.begin() + std::ptrdiff_t(which) + 1, list.end());
  return list;
}

std::string indent_of(int depth) { return std::string(2 + 2 * static_cast<std::size_t>(depth), ' '); }

//! Neighbours that were loaded at once are told apart by `e`.
std::string for_each_of(std::int64_t width, const std::string& body, const std::string& indent) {
  if (width == 1) return body;
  return fmt::format("#pragma unroll\n{0}for (int e = 0; e < {1}; ++e) {{\n{2}{0}}}\n", indent, width, body);
}

std::string close_all(int depth, int outside) {
  std::string text;
  for (; depth > outside; --depth) text += indent_of(depth - 1) + "}\n";
  return text;
}

}  // namespace

WindowCode::WindowCode(const OpGraph& graph, const WindowSpace& space, const WindowShape& shape, std::string name)
    : graph_(graph),
      space_(space),
      shape_(shape),
      name_(std::move(name)),
      by_column_(terms_by_column(space, shape, column_)),
      at_element_(graph, space.fused, all_loops(false), all_names(false)),
      at_column_(graph, by_column_, all_loops(true), all_names(true)),
      in_window_(graph, space.fused, moved_to_end(all_loops(false), last_inside_loop()),
                 moved_to_end(all_names(false), last_inside_loop())) {
  const std::int64_t threads = product_of_sizes(thread_loops()) + shape.block;
  for (AccessCode* access : {&at_element_, &at_column_, &in_window_}) {
    access->set_width(access == &in_window_ ? shape.inside : shape.width);
    access->set_wide(at_element_.reaches_far() || threads * shape.items >= std::int64_t{1} << 31);
  }
}

std::vector<Loop> WindowCode::all_loops(bool of_columns) const {
  std::vector<Loop> loops;
  for (const int atom : space_.window_atoms()) loops.push_back({space_.fused.atoms.size(atom), {atom}});
  if (of_columns && column_ >= 0) loops.push_back({column_count(), {column_}});
  loops.insert(loops.end(), space_.loops.begin(), space_.loops.end());
  return loops;
}

//! k: place in the window, j: column, i: output; s: which of the thread's outputs, the first of which is at `first`.
std::vector<std::string> WindowCode::all_names(bool of_columns) const {
  std::vector<std::string> names;
  for (const int atom : space_.window_atoms()) names.push_back(fmt::format("k{}", atom));
  if (of_columns && column_ >= 0) names.emplace_back("j");
  for (std::size_t i = 0; i < space_.loops.size(); ++i) {
    const bool slides = shape_.slide && shape_.slide->loop == i;
    names.push_back(!slides ? fmt::format("i{}", i) : of_columns ? "first" : "(first + s)");
  }
  return names;
}

//! The atom of the last dimension of the window, where that has no ends; -1: there is none.
int WindowCode::last_inside() const {
  if (!space_.is_simple() || space_.window().windows.empty()) return -1;
  const WindowDim& last = space_.window().windows.back();
  return last.may_leave || last.parts != 0 ? -1 : last.loop;
}

std::size_t WindowCode::last_inside_loop() const {
  const std::vector<Loop> loops = all_loops(false);
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (loops[i].atoms == std::vector<int>{last_inside()}) return i;
  return loops.size() - 1;
}

bool WindowCode::fits_inside(std::int64_t count) const {
  const auto fits = [&](int load) {
    const Term& term = space_.fused.terms[load];
    return in_window_.fits(term.value, term.place, count);
  };
  return last_inside() >= 0 && std::ranges::any_of(loads_under(space_.window().operands, true), fits);
}

std::int64_t WindowCode::widest_inside() const {
  std::int64_t widest = 1;
  if (last_inside() < 0) return widest;
  for (const int load : loads_under(space_.window().operands, true)) {
    const Term& term = space_.fused.terms[load];
    widest = std::max(widest, in_window_.widest(term.value, term.place));
  }
  return widest;
}

//! Those of the outputs, an index for what a thread has.
std::vector<Loop> WindowCode::thread_loops() const {
  std::vector<Loop> loops = space_.loops;
  loops.back().size /= shape_.width;
  if (!shape_.slide) return loops;
  std::int64_t& size = loops[shape_.slide->loop].size;
  size = (size + shape_.items - 1) / shape_.items;
  return loops;
}

//! The last of a thread's outputs may not exist.
bool WindowCode::leaves_end() const {
  return shape_.slide && space_.loops[shape_.slide->loop].size % shape_.items != 0;
}

//! Elements beyond the ends must not be seen, since their place would be.
bool WindowCode::skips() const { return adds_places(space_.window()); }

bool WindowCode::is_column_term(int term) const {
  return shape_.slide && std::ranges::count(shape_.slide->column_terms, term) > 0;
}

WrittenGroup WindowCode::write() {
  WrittenGroup group;
  group.headers = at_element_.headers();
  group.headers.insert("cudal1/operations.cuh");
  const std::int64_t blocks = (product_of_sizes(thread_loops()) + shape_.block - 1) / shape_.block;
  group.launches.push_back(
      {name_, {std::max<std::int64_t>(1, blocks), 1, 1}, {shape_.block, 1, 1}, 0, at_element_.arguments()});
  group.code = kernel();
  return group;
}

std::string WindowCode::kernel() {
  std::string text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n", shape_.block, name_,
                                 fmt::join(at_element_.parameters(), ", "));
  if (space_.output_count() == 0) return text + "}\n";
  text += places_of_thread();
  text += base_pointers();  // before what reads by them is written
  if (space_.is_simple()) {
    text += window_pass();
  } else {
    std::vector<int> targets;
    for (const FusedTerms::Output& output : space_.fused.outputs) targets.push_back(output.term);
    text += nested(targets, 0);
  }
  text += outputs();
  return text + "}\n";
}

std::string WindowCode::places_of_thread() const {
  const std::string_view type = at_element_.index_type(), suffix = at_element_.suffix();
  const std::int64_t threads = product_of_sizes(thread_loops());
  std::string text = fmt::format("  const {} i = static_cast<{}>(blockIdx.x) * {}{} + threadIdx.x;\n", type, type,
                                 shape_.block, suffix);
  if (threads % shape_.block != 0) text += fmt::format("  if (i >= {}{}) return;\n", threads, suffix);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < space_.loops.size(); ++i) names.push_back(fmt::format("i{}", i));
  text += index_statements(thread_loops(), names, "i", at_element_.is_wide(), "  ");
  if (shape_.slide)
    text += fmt::format("  const {} first = {}{} * i{};\n", type, shape_.items, suffix, shape_.slide->loop);
  return text;
}

//! The window's part of a place is known when loops are unrolled; the thread's part is computed once.
std::string WindowCode::base_pointers(AccessCode& access, const FusedTerms& fused, const std::set<int>& loads,
                                      char letter) const {
  std::string text;
  for (const int load : loads) {
    const Term& term = fused.terms[load];
    Affine thread, rest{term.place.offset, {}};
    for (const auto& [atom, factor] : term.place.factors)
      (space_.is_of_window(atom) || atom == column_ ? rest : thread).add(atom, factor);
    if (fused.atoms.largest(rest) >= near || rest.offset <= -near) continue;
    const std::string pointer = fmt::format("{}{}", letter, load);
    text += fmt::format("  const auto* const {} = {} + ({});\n", pointer, access.variable(term.value),
                        access.place(thread));
    access.set_base(load, pointer, rest);
  }
  return text;
}

std::string WindowCode::base_pointers() {
  std::set<int> loads;
  for (const int reduction : space_.reductions) loads.merge(loads_under(space_.fused.terms[reduction].operands, false));
  std::string text;
  if (shape_.inside == 1) text += base_pointers(at_element_, space_.fused, loads, 'b');
  if (shape_.inside > 1) text += base_pointers(in_window_, space_.fused, loads, 'w');
  if (shape_.slide) text += base_pointers(at_column_, by_column_, loads_under(shape_.slide->column_terms, true), 'd');
  return text;
}

std::string WindowCode::repeated(std::string_view index, std::int64_t count, const std::string& body,
                                 const std::string& indent) const {
  return fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n{3}{0}}}\n", indent, index, count,
                     body);
}

std::string WindowCode::for_each_of_width(const std::string& body, const std::string& indent) const {
  return for_each_of(shape_.width, body, indent);
}

//! Where a value of neighbour `e` is kept in an array that has some for each of the group's.
std::string WindowCode::slot(std::string_view group) const {
  if (shape_.width == 1) return std::string(group);
  return group == "0" ? "e" : fmt::format("({}) * {} + e", group, shape_.width);
}

//! One comparison for both ends: indices are unsigned.
std::string WindowCode::is_inside(const AccessCode& access, const Affine& index, std::int64_t size) const {
  return fmt::format("{} < {}{}", access.place(index), size, access.suffix());
}

//! Of everything that these terms need and that is not known already.
std::string WindowCode::loads(const AccessCode& access, const std::vector<int>& targets,
                              const std::string& indent) const {
  std::string text;
  for (const int load : loads_under(targets, &access == &at_column_)) text += access.load_before(load, indent);
  return text;
}

std::set<int> WindowCode::loads_under(const std::vector<int>& targets, bool of_columns) const {
  std::set<int> found;
  std::vector<int> open = targets;
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    const Term& term = space_.fused.terms[index];
    if (term.kind == TermKind::reduce || (!of_columns && is_column_term(index))) continue;
    if (term.kind == TermKind::load) found.insert(index);
    open.insert(open.end(), term.operands.begin(), term.operands.end());
  }
  return found;
}

std::optional<std::string> WindowCode::given(const AccessCode& access, int index) const {
  const TermKind kind = space_.fused.terms[index].kind;
  if (kind == TermKind::reduce) return space_.is_simple() ? "found" : fmt::format("x{}", index);
  if (kind != TermKind::load && kind != TermKind::position) return std::nullopt;
  return access.element(index, fmt::format("v{}", index));
}

//! `a[…] = Operation::combine(a[…], element);`
std::string WindowCode::combined(ElementCode& code, const std::string& indent) const {
  const Term& window = space_.window();
  std::vector<std::string> elements;
  for (const int operand : window.operands) elements.push_back(code[operand]);
  const std::string place = slot(shape_.slide ? "s" : "0");
  return fmt::format("{}{}a[{}] = {}::{}(a[{}], {});\n", code.text(), indent, place, window.code,
                     skips() ? "add" : "combine", place, fmt::join(elements, ", "));
}

std::string WindowCode::begin_and_end(const WindowDim& dim, const std::string& indent) const {
  const bool far = dim.size * (dim.parts + 1) >= std::int64_t{1} << 31;
  const std::string part =
      fmt::format("static_cast<{}>({})", far ? "unsigned long long" : "unsigned", at_element_.place(dim.part));
  return fmt::format("{0}const int begin{1} = {2} * {3} / {4};\n{0}const int end{1} = (({2} + 1) * {3} + {5}) / {4};\n",
                     indent, dim.loop, part, dim.size, dim.parts, dim.parts - 1);
}

//! The loop through a dimension of the window, and the question whether there is an element.
std::string WindowCode::open_dimension(const WindowDim& dim, bool unrolled, int& depth) const {
  std::string text;
  if (dim.divisor != 0)
    text += fmt::format("{0}const int k{1} = ({3}) / {4}{5};\n{0}const int k{2} = ({3}) % {4}{5};\n", indent_of(depth),
                        dim.quotient, dim.remainder, at_element_.place(dim.divided), dim.divisor, at_element_.suffix());
  if (dim.loop >= 0 && dim.parts != 0) {
    text += begin_and_end(dim, indent_of(depth));
    text += fmt::format("{0}for (int k{1} = begin{1}; k{1} < end{1}; ++k{1}) {{\n", indent_of(depth), dim.loop);
    ++depth;
  } else if (dim.loop >= 0) {
    if (unrolled) text += "#pragma unroll\n";
    const std::int64_t at_once = dim.loop == last_inside() ? shape_.inside : 1;
    text += fmt::format("{0}for (int k{1} = 0; k{1} < {2}; ++k{1}) {{\n", indent_of(depth), dim.loop,
                        space_.fused.atoms.size(dim.loop) / at_once);
    ++depth;
  }
  if (!dim.may_leave) return text;
  text += fmt::format("{}if ({}) {{\n", indent_of(depth), is_inside(at_element_, dim.index, dim.size));
  ++depth;
  return text;
}

//! All dimensions but the one that outputs share columns along. `inner`: reads that are written out inside.
std::string WindowCode::open_windows(const Term& reduction, std::int64_t inner, int& depth) const {
  const auto is_apart = [&](std::size_t dim) { return shape_.slide && shape_.slide->dim == dim; };
  std::vector<bool> unrolled(reduction.windows.size(), true);
  for (std::size_t dim = reduction.windows.size(); dim-- > 0;) {
    if (reduction.windows[dim].loop < 0 || is_apart(dim)) continue;
    inner *= space_.fused.atoms.size(reduction.windows[dim].loop);
    unrolled[dim] = inner <= most_unrolled;
  }
  std::string text;
  for (std::size_t dim = 0; dim < reduction.windows.size(); ++dim)
    if (!is_apart(dim)) text += open_dimension(reduction.windows[dim], unrolled[dim], depth);
  return text;
}

std::string WindowCode::window_pass() {
  const Term& term = space_.window();
  std::string text = fmt::format("  {}::Value a[{}];\n", term.code, shape_.items * shape_.width);
  text += repeated("n", shape_.items * shape_.width, fmt::format("    a[n] = {}::identity();\n", term.code), "  ");
  int depth = 0;
  text += open_windows(term, shape_.width * (shape_.slide ? column_count() : 1), depth);
  text += shape_.slide ? columns(indent_of(depth)) + neighbours(indent_of(depth)) : whole_window(indent_of(depth));
  return text + close_all(depth, 0);
}

std::int64_t WindowCode::elements_of(const std::vector<int>& targets) const {
  std::int64_t sum = 0;
  for (const int index : space_.reductions_under(targets)) {
    std::int64_t elements = std::max<std::int64_t>(1, elements_of(space_.fused.terms[index].operands));
    for (const int atom : space_.fused.terms[index].loops) elements *= space_.fused.atoms.size(atom);
    sum += elements;
  }
  return sum;
}

//! Reductions that these terms need, each with those that its own elements need inside.
std::string WindowCode::nested(const std::vector<int>& targets, int outside) {
  std::string text;
  for (const int index : space_.reductions_under(targets)) {
    const Term& reduction = space_.fused.terms[index];
    text += fmt::format("{}auto x{} = {}::identity();\n", indent_of(outside), index, reduction.code);
    int depth = outside;
    text += open_windows(reduction, std::max<std::int64_t>(1, elements_of(reduction.operands)), depth);
    text += nested(reduction.operands, depth) + loads(at_element_, reduction.operands, indent_of(depth));
    ElementCode code(
        space_.fused, [this](int term) { return given(at_element_, term); }, indent_of(depth));
    std::vector<std::string> elements;
    for (const int operand : reduction.operands) elements.push_back(code[operand]);
    text += fmt::format("{0}{1}x{2} = {3}::{4}(x{2}, {5});\n", code.text(), indent_of(depth), index, reduction.code,
                        adds_places(reduction) ? "add" : "combine", fmt::join(elements, ", "));
    text += close_all(depth, outside);
  }
  return text;
}

//! One output, an element at a time, or as many as are loaded at once.
std::string WindowCode::whole_window(const std::string& indent) {
  const AccessCode& access = shape_.inside > 1 ? in_window_ : at_element_;
  const std::string inner = access.width() == 1 ? indent : indent + "  ";
  ElementCode code(
      space_.fused, [&](int term) { return given(access, term); }, inner);
  const std::string body = combined(code, inner);
  return loads(access, space_.window().operands, indent) + for_each_of(access.width(), body, indent);
}

//! What the outputs of a thread share is read and computed once; beyond the ends it is what changes nothing.
std::string WindowCode::columns(const std::string& indent) {
  const Slide& slide = *shape_.slide;
  const WindowDim& window = by_column_.terms[space_.reductions.front()].windows[slide.dim];
  const bool guarded = window.may_leave || leaves_end();
  const std::string inside = indent + (guarded ? "    " : "  ");
  const std::string inner = shape_.width == 1 ? inside : inside + "  ";
  ElementCode code(
      by_column_, [this](int term) { return given(at_column_, term); }, inner);
  std::string declarations, neutral, kept;
  const bool is_maximum = space_.window().code.find("Max<") != std::string::npos;
  for (const int term : slide.column_terms) {
    const std::string_view kind = cuda_name(space_.fused.terms[term].scalar);
    declarations += fmt::format("{}{} c{}[{}];\n", indent, kind, term, column_count() * shape_.width);
    const std::string nothing = is_maximum ? fmt::format("cudal1::lowest<{}>()", kind) : "0";
    neutral +=
        fmt::format("{}c{}[{}] = {};\n", shape_.width == 1 ? indent + "  " : indent + "    ", term, slot("j"), nothing);
    const std::string value = code[term];
    kept += fmt::format("{}c{}[{}] = {};\n", inner, term, slot("j"), value);
  }
  std::string body = loads(at_column_, slide.column_terms, inside) + for_each_of_width(code.text() + kept, inside);
  if (guarded)
    body = fmt::format("{0}{1}  if ({2}) {{\n{3}{1}  }}\n", for_each_of_width(neutral, indent + "  "), indent,
                       is_inside(at_column_, window.index, window.size), body);
  return declarations + repeated("j", column_count(), body, indent);
}

std::string WindowCode::neighbours(const std::string& indent) {
  const Slide& slide = *shape_.slide;
  const std::string k = fmt::format("k{}", slide.inside), inside = indent + (skips() ? "      " : "    ");
  const std::string inner = shape_.width == 1 ? inside : inside + "  ";
  const std::string column = fmt::format("{} * s + {} * {}", slide.stride, slide.dilation, k);
  ElementCode code(
      space_.fused,
      [&](int term) -> std::optional<std::string> {
        if (is_column_term(term)) return fmt::format("c{}[{}]", term, slot(column));
        return given(at_element_, term);
      },
      inner);
  std::string body = combined(code, inner);
  body = for_each_of_width(body, inside);
  const WindowDim& window = space_.window().windows[slide.dim];
  if (skips())
    body = fmt::format("{0}    if ({1}) {{\n{2}{0}    }}\n", indent, is_inside(at_element_, window.index, window.size),
                       body);
  body = loads(at_element_, space_.window().operands, indent + "  ") + repeated("s", shape_.items, body, indent + "  ");
  return repeated(k, slide.length, body, indent);
}

//! What is made of each window, stored.
std::string WindowCode::outputs() {
  const std::string indent = !shape_.slide ? "  " : leaves_end() ? "      " : "    ";
  const std::string inner = shape_.width == 1 ? indent : indent + "  ";
  ElementCode code(
      space_.fused, [this](int term) { return given(at_element_, term); }, inner);
  std::string before, after, stores;
  std::vector<int> targets;
  for (std::size_t i = 0; i < space_.fused.outputs.size(); ++i) {
    const FusedTerms::Output& output = space_.fused.outputs[i];
    targets.push_back(output.term);
    const std::string value = code[output.term];
    if (!at_element_.output_is_vector(i)) {
      stores += at_element_.store_element(i, value, inner);
      continue;
    }
    before += at_element_.vector_variable(i, indent);
    after += at_element_.store_vector(i, indent);
    stores += fmt::format("{}o{}[e] = {};\n", inner, i, stored(value, graph_.values[output.value].meta.dtype));
  }
  std::string found;
  if (space_.is_simple())
    found =
        fmt::format("{}const {}::Value found = a[{}];\n", inner, space_.window().code, slot(shape_.slide ? "s" : "0"));
  std::string text =
      loads(at_element_, targets, indent) + before + for_each_of_width(found + code.text() + stores, indent) + after;
  if (!shape_.slide) return text;
  if (leaves_end())
    text = fmt::format("    if (first + s < {}{}) {{\n{}    }}\n", space_.loops[shape_.slide->loop].size,
                       at_element_.suffix(), text);
  return repeated("s", shape_.items, text, "  ");
}

}  // namespace cudal1
