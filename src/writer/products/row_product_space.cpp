#include "writer/products/row_product_space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"

namespace cudal1 {
namespace {

class RowProductSpaceMaker {
 public:
  RowProductSpaceMaker(const Region& region, const ProductNode& node, SourcePosition at)
      : region_(region), graph_(region.graph()), node_(node), at_(at) {}

  RowProductSpace make() {
    made_.product = make_product_operands(region_, node_, at_);
    refuse_reduced_operands();
    made_.rows = make_row_space(region_, at_, Products::kept);
    refuse_several_sums(graph_, node_, made_.rows.product_points, at_);
    refuse_gathered_sums();
    refuse_other_columns();
    take_sums(made_.rows.fused, node_.value);
    made_.product.results = results_at(graph_, node_, made_.rows.fused, sums(), at_);
    made_.rows.fused = made_.product.results.fused;  // whose loops may have atoms of their own
    refuse_changed_operands(graph_, made_.product, at_);
    find_columns();
    find_late_outputs();
    return std::move(made_);
  }

 private:
  const Point& sums() const { return made_.rows.product_points.front(); }
  std::string product_name() const { return quoted(graph_.values[node_.value].name); }

  void refuse_reduced_operands() const {
    for (const ProductOperand* operand : {&made_.product.left, &made_.product.right})
      for (const Term& term : operand->fused.terms)
        if (term.kind == TermKind::reduce)
          reject(Status::plan_error, at_,
                 fmt::format("the product {} multiplies what a reduction gives, and every block would reduce it again; "
                             "fuse the reduction apart",
                             product_name()));
  }

  void refuse_gathered_sums() const {
    for (const Term& term : made_.rows.fused.terms)
      if (term.kind == TermKind::gather && term.value == node_.value)
        reject(Status::plan_error, at_,
               fmt::format("elements of the product {} are moved (cat, pad, index …) before they are reduced; fuse "
                           "what moves them apart",
                           product_name()));
  }

  void refuse_other_columns() const {
    std::set<int> columns;
    for (std::size_t i = node_.batch_dimensions + node_.row_dimensions; i < sums().size(); ++i)
      for (const auto& [atom, factor] : sums()[i].factors) columns.insert(atom);
    if (columns != made_.rows.column_atoms)
      reject(Status::plan_error, at_,
             fmt::format("a row of the product {} is reduced over all of its columns, its last dimension, or not at "
                         "all; fuse reductions over others, or over a part of it, apart",
                         product_name()));
  }

  //! Also where there is one column, and no loop to tell.
  void find_columns() {
    RowSpace& rows = made_.rows;
    for (std::size_t i = 0; i < rows.fused.terms.size(); ++i) {
      const Term& term = rows.fused.terms[i];
      const auto has_columns = [&](int operand) { return rows.in_columns[static_cast<std::size_t>(operand)]; };
      if (term.code == sum_code || (term.kind != TermKind::reduce && std::ranges::any_of(term.operands, has_columns)))
        rows.in_columns[i] = true;
    }
  }

  void find_late_outputs() {
    std::vector<bool> is_late;  // by term
    for (const Term& term : made_.rows.fused.terms) {
      const auto late = [&](int operand) { return is_late[static_cast<std::size_t>(operand)]; };
      is_late.push_back(term.kind == TermKind::reduce || std::ranges::any_of(term.operands, late));
    }
    for (const FusedTerms::Output& output : made_.rows.fused.outputs)
      made_.is_late.push_back(is_late[static_cast<std::size_t>(output.term)]);
  }

  const Region& region_;
  const OpGraph& graph_;
  const ProductNode& node_;
  SourcePosition at_;
  RowProductSpace made_;
};

}  // namespace

bool RowProductSpace::needs_whole_rows() const {
  if (rows.passes() > 1) return true;
  for (std::size_t i = 0; i < is_late.size(); ++i)
    if (is_late[i] && rows.output_has_columns(i)) return true;
  return false;
}

RowProductSpace make_row_product_space(const Region& region, const ProductNode& node, SourcePosition at) {
  return RowProductSpaceMaker(region, node, at).make();
}

}  // namespace cudal1
