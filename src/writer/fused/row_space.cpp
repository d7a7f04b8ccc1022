#include "writer/fused/row_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "program/rejection.hpp"
#include "writer/fused/lowering.hpp"

namespace cudal1 {
namespace {

std::vector<int> reductions_of(const FusedTerms& fused) {
  std::vector<int> found;
  for (std::size_t i = 0; i < fused.terms.size(); ++i)
    if (fused.terms[i].kind == TermKind::reduce) found.push_back(static_cast<int>(i));
  return found;
}

//! Atoms that say which row it is.
std::set<int> row_atoms(const FusedTerms& fused, const std::vector<int>& reductions) {
  const auto all = fused.atoms_of_terms();
  std::set<int> atoms;
  for (const int reduction : reductions) atoms.insert(all[reduction].begin(), all[reduction].end());
  return atoms;
}

//! Those of an output that are no row's, in the order in which they lie in memory.
std::vector<int> columns_of(const FusedTerms::Output& output, const std::set<int>& rows) {
  std::set<int> atoms;
  for (const auto& [atom, factor] : output.place.factors)
    if (!rows.contains(atom)) atoms.insert(atom);
  return in_memory_order(output.place, atoms);
}

//! Splits atoms of either until both have the same sizes. False: their sizes do not divide each other.
bool match_sizes(AtomTable& atoms, const std::vector<int>& first, const std::vector<int>& second) {
  for (;;) {
    const std::vector<int> a = atoms.parts_of(first), b = atoms.parts_of(second);
    std::size_t i = 0;
    while (i < a.size() && i < b.size() && atoms.size(a[a.size() - 1 - i]) == atoms.size(b[b.size() - 1 - i])) ++i;
    if (i == a.size() && i == b.size()) return true;
    if (i == a.size() || i == b.size()) return false;
    int large = a[a.size() - 1 - i], small = b[b.size() - 1 - i];
    if (atoms.size(large) < atoms.size(small)) std::swap(large, small);
    if (atoms.size(small) == 0 || atoms.size(large) % atoms.size(small) != 0) return false;
    atoms.split(large, atoms.size(small));
  }
}

class RowSpaceMaker {
 public:
  RowSpaceMaker(const Region& region, SourcePosition at, Products products) : graph_(region.graph()), at_(at) {
    if (products == Products::summed) {
      space_.fused = lower(region, at, Gathers::written);
      return;
    }
    LoweredAroundProducts lowered = lower_around_products(region, at, Gathers::written);
    space_.fused = std::move(lowered.fused);
    product_points_ = std::move(lowered.points);
  }

  RowSpace make() {
    collect_columns();
    if (all_columns_.empty()) reject(Status::plan_error, at_, "these nodes reduce nothing");
    for (int round = 0; round < 2; ++round)  // what the last of them splits, the first must follow
      for (const auto& columns : all_columns_) match(columns);
    space_.fused.resolve();
    const std::map<int, int> names = names_of_atoms();
    share_terms(names);
    for (const Point& point : product_points_)
      space_.product_points.push_back(renamed(fused().atoms.resolved(point), names));
    find_loops();
    return std::move(space_);
  }

 private:
  FusedTerms& fused() { return space_.fused; }

  void collect_columns() {
    const std::vector<int> reductions = reductions_of(fused());
    rows_ = row_atoms(fused(), reductions);
    for (const int reduction : reductions) {
      const std::vector<int>& loops = fused().terms[reduction].loops;
      if (std::ranges::any_of(loops, [&](int atom) { return rows_.contains(atom); })) refuse();
      all_columns_.push_back(loops);
    }
    for (const FusedTerms::Output& output : fused().outputs)
      if (auto columns = columns_of(output, rows_); !columns.empty()) all_columns_.push_back(std::move(columns));
  }

  [[noreturn]] void refuse() const {
    reject(Status::plan_error, at_,
           "these nodes reduce different dimensions, or repeat what they reduce along another one (expand), so no row "
           "holds all that one result needs; fuse them apart");
  }

  void match(const std::vector<int>& columns) {
    if (!match_sizes(fused().atoms, all_columns_.front(), columns)) refuse();
  }

  //! The columns of all reductions and outputs become one set of atoms.
  std::map<int, int> names_of_atoms() {
    const std::vector<int> common = fused().atoms.parts_of(all_columns_.front());
    space_.column_atoms.insert(common.begin(), common.end());
    std::map<int, int> names;
    for (const auto& columns : all_columns_) {
      const std::vector<int> parts = fused().atoms.parts_of(columns);
      for (std::size_t i = 0; i < parts.size(); ++i) names[parts[i]] = common[i];
    }
    return names;
  }

  static Affine renamed(const Affine& place, const std::map<int, int>& names) {
    Affine made{place.offset, {}};
    for (const auto& [atom, factor] : place.factors) {
      const auto name = names.find(atom);
      made.add(name == names.end() ? atom : name->second, factor);
    }
    return made;
  }

  static Point renamed(const Point& point, const std::map<int, int>& names) {
    Point made;
    for (const Affine& index : point) made.push_back(renamed(index, names));
    return made;
  }

  //! What two passes compute alike becomes one term.
  void share_terms(const std::map<int, int>& names) {
    using Key = std::tuple<TermKind, ScalarKind, std::string, std::vector<int>, ValueId, Affine>;
    std::map<Key, int> known;
    std::vector<int> new_index;
    std::vector<Term> terms;
    for (Term& term : fused().terms) {
      for (int& operand : term.operands) operand = new_index[operand];
      term.place = renamed(term.place, names);
      if (term.kind == TermKind::reduce) term.loops = fused().atoms.parts_of(all_columns_.front());
      const auto [at, fresh] =
          known.emplace(Key{term.kind, term.scalar, term.code, term.operands, term.value, term.place},
                        static_cast<int>(terms.size()));
      if (fresh) terms.push_back(std::move(term));
      new_index.push_back(at->second);
    }
    fused().terms = std::move(terms);
    for (FusedTerms::Output& output : fused().outputs) {
      output.term = new_index[output.term];
      output.place = renamed(output.place, names);
    }
  }

  void find_loops() {
    space_.reductions = reductions_of(fused());
    find_passes();
    std::set<int> rows;
    for (const std::set<int>& atoms : fused().atoms_of_terms()) {
      space_.in_columns.push_back(std::ranges::any_of(atoms, [&](int a) { return space_.column_atoms.contains(a); }));
      rows.insert(atoms.begin(), atoms.end());
    }
    for (const Affine& place : fused().places())
      for (const auto& [atom, factor] : place.factors) rows.insert(atom);
    for (const int atom : space_.column_atoms) rows.erase(atom);
    find_main_load();
    const Affine& order =
        space_.main_load_ >= 0 ? fused().terms[space_.main_load_].place : fused().outputs.front().place;
    space_.rows = loops_through(rows, order);
    space_.columns = loops_through(space_.column_atoms, order);
    refuse_repeated_work();
    refuse_shared_columns();
  }

  //! A reduction comes one pass after the last that it needs.
  void find_passes() {
    std::vector<std::size_t> ready;  // by term: the first pass that may read it
    for (const Term& term : fused().terms) {
      std::size_t first = 0;
      for (const int operand : term.operands) first = std::max(first, ready[operand]);
      if (term.kind == TermKind::reduce) space_.pass_of.push_back(first++);
      ready.push_back(first);
    }
  }

  //! Rows may be more than the results of any reduction, say for x[i] + x[j] of sums x: each would be made many times.
  void refuse_repeated_work() const {
    const auto atoms = space_.fused.atoms_of_terms();
    std::int64_t most = 0;
    for (const int reduction : space_.reductions) {
      std::int64_t results = 1;
      for (const int atom : atoms[reduction]) results *= space_.fused.atoms.size(atom);
      most = std::max(most, results);
    }
    if (space_.row_count() > most)
      reject(Status::plan_error, at_,
             fmt::format("{} rows would need {} results of reductions, each many times; fuse what reads them apart",
                         space_.row_count(), most));
  }

  //! An element of an output belongs to one row.
  void refuse_shared_columns() const {
    for (std::size_t i = 0; i < space_.fused.outputs.size(); ++i) {
      const FusedTerms::Output& output = space_.fused.outputs[i];
      const auto is_shared = [&](const Loop& row) { return row.size > 1 && row.stride_of(output.place) == 0; };
      if (space_.output_has_columns(i) && std::ranges::any_of(space_.rows, is_shared))
        reject(Status::plan_error, at_,
               fmt::format("{} is the same for many rows of the others; fuse it apart",
                           quoted(graph_.values[output.value].name)));
    }
  }

  std::vector<Loop> loops_through(const std::set<int>& atoms, const Affine& order) {
    auto loops = joined_loops(fused().atoms, in_memory_order(order, atoms), fused().places(), fused().positions());
    if (loops.empty()) loops.push_back({1, {fused().atoms.add(1)}});
    return loops;
  }

  void find_main_load() {
    std::int64_t most = -1;
    for (std::size_t i = 0; i < fused().terms.size(); ++i) {
      const Term& term = fused().terms[i];
      if (term.kind != TermKind::load || !space_.in_columns[i]) continue;
      if (graph_.values[term.value].meta.numel() <= most) continue;
      most = graph_.values[term.value].meta.numel();
      space_.main_load_ = static_cast<int>(i);
    }
  }

  const OpGraph& graph_;
  SourcePosition at_;
  RowSpace space_;
  std::vector<Point> product_points_;
  std::set<int> rows_;
  std::vector<std::vector<int>> all_columns_;  //!< of each reduction, then of each output that has some
};

}  // namespace

bool RowSpace::output_has_columns(std::size_t output) const {
  if (in_columns[fused.outputs[output].term]) return true;
  return std::ranges::any_of(fused.outputs[output].place.factors,
                             [&](const auto& entry) { return column_atoms.contains(entry.first); });
}

bool RowSpace::some_output_has_columns() const {
  for (std::size_t i = 0; i < fused.outputs.size(); ++i)
    if (output_has_columns(i)) return true;
  return false;
}

std::set<int> RowSpace::column_loads(const std::vector<int>& targets) const {
  std::set<int> loads, seen;
  std::vector<int> open = targets;
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    if (!in_columns[index] || !seen.insert(index).second) continue;
    const Term& term = fused.terms[index];
    if (term.kind == TermKind::load) loads.insert(index);
    open.insert(open.end(), term.operands.begin(), term.operands.end());
  }
  return loads;
}

RowSpace make_row_space(const Region& region, SourcePosition at, Products products) {
  return RowSpaceMaker(region, at, products).make();
}

}  // namespace cudal1
