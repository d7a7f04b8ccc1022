#include "writer/fused/scan_space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "writer/fused/lowering.hpp"

namespace cudal1 {
namespace {

class ScanSpaceMaker {
 public:
  ScanSpaceMaker(const Region& region, SourcePosition at) : graph_(region.graph()), at_(at) {
    space_.fused = lower(region, at, Gathers::written);
  }

  ScanSpace make() {
    for (std::size_t i = 0; i < terms().size(); ++i)
      if (terms()[i].kind == TermKind::scan) space_.scans.push_back(static_cast<int>(i));
    find_column();
    find_main_load();
    find_rows();
    refuse_small_outputs();
    return std::move(space_);
  }

 private:
  const std::vector<Term>& terms() const { return space_.fused.terms; }

  //! The atom that all scans run along; none where dimensions of one element are scanned.
  void find_column() {
    if (space_.scans.empty()) {
      space_.column = {1, {space_.fused.atoms.add(1)}};
      return;
    }
    const Affine& index = terms()[space_.scans.front()].place;
    for (const int scan : space_.scans)
      if (terms()[scan].place != index || index.factors.size() != 1)
        reject(Status::plan_error, at_, "these nodes scan along different indices; fuse them apart");
    space_.column = {space_.fused.atoms.size(index.factors.front().first), {index.factors.front().first}};
    space_.backwards = index.factors.front().second < 0;
  }

  void find_main_load() {
    std::int64_t most = -1;
    for (std::size_t i = 0; i < terms().size(); ++i) {
      if (terms()[i].kind != TermKind::load || space_.column.stride_of(terms()[i].place) == 0) continue;
      if (graph_.values[terms()[i].value].meta.numel() <= most) continue;
      most = graph_.values[terms()[i].value].meta.numel();
      space_.main_load = static_cast<int>(i);
    }
  }

  void find_rows() {
    std::set<int> atoms;
    for (const std::set<int>& of_term : space_.fused.atoms_of_terms()) atoms.insert(of_term.begin(), of_term.end());
    for (const Affine& place : space_.fused.places())
      for (const auto& [atom, factor] : place.factors) atoms.insert(atom);
    atoms.erase(space_.column.atoms.front());
    const Affine& order = space_.main_load >= 0 ? terms()[space_.main_load].place : space_.fused.outputs.front().place;
    space_.rows = joined_loops(space_.fused.atoms, in_memory_order(order, atoms), space_.fused.places(),
                               space_.fused.positions());
    if (space_.rows.empty()) space_.rows.push_back({1, {space_.fused.atoms.add(1)}});
  }

  void refuse_small_outputs() const {
    for (const FusedTerms::Output& output : space_.fused.outputs)
      if (graph_.values[output.value].meta.numel() != space_.row_count() * space_.column.size)
        reject(Status::plan_error, at_,
               fmt::format("{} must be written, but has another size than what is scanned: fuse them apart",
                           quoted(graph_.values[output.value].name)));
  }

  const OpGraph& graph_;
  SourcePosition at_;
  ScanSpace space_;
};

}  // namespace

ScanSpace make_scan_space(const Region& region, SourcePosition at) { return ScanSpaceMaker(region, at).make(); }

}  // namespace cudal1
