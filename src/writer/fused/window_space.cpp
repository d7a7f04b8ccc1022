#include "writer/fused/window_space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "writer/fused/lowering.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t most_repetitions = 4;

class WindowSpaceMaker {
 public:
  WindowSpaceMaker(const Region& region, SourcePosition at) : graph_(region.graph()), at_(at) {
    space_.fused = lower(region, at);
  }

  WindowSpace make() {
    find_windows();
    find_loops();
    check_outputs();
    return std::move(space_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { reject(Status::plan_error, at_, why); }

  void find_windows() {
    for (std::size_t i = 0; i < space_.fused.terms.size(); ++i)
      if (space_.fused.terms[i].kind == TermKind::reduce) space_.reductions.push_back(static_cast<int>(i));
    for (const int atom : space_.window_atoms())
      if (space_.fused.atoms.is_split(atom))
        refuse("a view before the windows cuts them in two; leave it out of the fusion");
  }

  void find_loops() {
    const std::vector<Affine> places = space_.fused.places();
    std::set<int> atoms = space_.fused.positions();
    for (const Affine& place : places)
      for (const auto& [atom, factor] : place.factors) atoms.insert(atom);
    std::erase_if(atoms, [&](int atom) { return space_.is_of_window(atom); });
    const Affine& order = space_.fused.outputs.front().place;
    space_.loops = joined_loops(space_.fused.atoms, in_memory_order(order, atoms), places, space_.fused.positions());
    if (space_.loops.empty()) space_.loops.push_back({1, {space_.fused.atoms.add(1)}});
  }

  void check_outputs() const {
    for (const FusedTerms::Output& output : space_.fused.outputs) {
      const Value& value = graph_.values[output.value];
      const auto in_window = [&](const auto& entry) { return space_.is_of_window(entry.first); };
      if (value.meta.numel() != space_.output_count() || std::ranges::any_of(output.place.factors, in_window))
        refuse(fmt::format("{} must be written, but is not made of one window an element: fuse it apart",
                           quoted(value.name)));
    }
    std::vector<int> targets;
    for (const FusedTerms::Output& output : space_.fused.outputs) targets.push_back(output.term);
    check_repetitions(targets, space_.output_count());
  }

  //! Windows into windows that overlap, or results that are broadcast, are computed again and again.
  void check_repetitions(const std::vector<int>& targets, std::int64_t times) const {
    for (const int index : space_.reductions_under(targets)) {
      const Term& term = space_.fused.terms[index];
      if (times > most_repetitions * term.results)
        refuse(
            fmt::format("the {} results of windows would be computed {} times: fuse them apart", term.results, times));
      std::int64_t elements = 1;
      for (const WindowDim& dim : term.windows)
        if (dim.loop >= 0)
          elements *= dim.parts == 0 ? space_.fused.atoms.size(dim.loop) : (dim.size + dim.parts - 1) / dim.parts;
      check_repetitions(term.operands, times * elements);
    }
  }

  const OpGraph& graph_;
  SourcePosition at_;
  WindowSpace space_;
};

//! What a term depends on along a dimension.
enum class Along { nothing, column, other };

class ColumnFinder {
 public:
  ColumnFinder(const FusedTerms& fused, Slide& slide) : fused_(fused), slide_(slide) {}

  //! False: something depends on the output's index, but not through the column.
  bool find(const std::vector<int>& elements) {
    for (const int element : elements)
      if (of(element) == Along::column) keep(element);
    return !reads_otherwise_ && !slide_.column_terms.empty();
  }

 private:
  Along of(int index) {
    const Term& term = fused_.terms[index];
    if (term.kind == TermKind::load) return of_load(term);
    if (term.kind == TermKind::position) return Along::other;  // cheaper anew than kept
    bool columns = false, others = false;
    for (const int operand : term.operands) {
      const Along along = of(operand);
      columns |= along == Along::column;
      others |= along == Along::other;
    }
    if (!others) return columns ? Along::column : Along::nothing;
    for (const int operand : term.operands)
      if (of(operand) == Along::column) keep(operand);
    return Along::other;
  }

  Along of_load(const Term& load) {
    const std::int64_t output = load.place.factor_of(slide_.output), inside = load.place.factor_of(slide_.inside);
    if (output == 0 && inside == 0) return Along::nothing;
    if (output * slide_.dilation == inside * slide_.stride) return Along::column;
    reads_otherwise_ |= output != 0;
    return Along::other;
  }

  void keep(int term) {
    if (std::ranges::count(slide_.column_terms, term) == 0) slide_.column_terms.push_back(term);
  }

  const FusedTerms& fused_;
  Slide& slide_;
  bool reads_otherwise_ = false;
};

}  // namespace

std::vector<int> WindowSpace::reductions_under(const std::vector<int>& targets) const {
  std::set<int> found;
  std::vector<int> open = targets;
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    if (fused.terms[index].kind == TermKind::reduce)
      found.insert(index);
    else
      open.insert(open.end(), fused.terms[index].operands.begin(), fused.terms[index].operands.end());
  }
  return {found.begin(), found.end()};
}

std::vector<int> WindowSpace::window_atoms() const {
  std::vector<int> atoms;
  for (const int reduction : reductions)
    for (const WindowDim& dim : fused.terms[reduction].windows)
      for (const int atom : {dim.loop, dim.quotient, dim.remainder})
        if (atom >= 0) atoms.push_back(atom);
  return atoms;
}

bool WindowSpace::is_of_window(int atom) const {
  const std::vector<int> atoms = window_atoms();
  return std::ranges::find(atoms, atom) != atoms.end();
}

WindowSpace make_window_space(const Region& region, SourcePosition at) { return WindowSpaceMaker(region, at).make(); }

std::optional<Slide> slide_along(const WindowSpace& space, std::size_t dim) {
  const WindowDim& window = space.window().windows[dim];
  if (window.loop < 0 || window.parts != 0 || window.index.factors.size() != 2) return std::nullopt;
  Slide slide;
  slide.dim = dim;
  slide.inside = window.loop;
  for (const auto& [atom, factor] : window.index.factors)
    if (atom != window.loop) slide.output = atom;
  const auto loop =
      std::ranges::find_if(space.loops, [&](const Loop& of) { return of.atoms == std::vector<int>{slide.output}; });
  if (loop == space.loops.end()) return std::nullopt;
  slide.loop = static_cast<std::size_t>(loop - space.loops.begin());
  slide.stride = window.index.factor_of(slide.output);
  slide.dilation = window.index.factor_of(slide.inside);
  slide.length = space.fused.atoms.size(slide.inside);
  return ColumnFinder(space.fused, slide).find(space.window().operands) ? std::optional(slide) : std::nullopt;
}

}  // namespace cudal1
