#include "writer/products/row_product_space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "writer/fused/view_points.hpp"

namespace cudal1 {
namespace {

class RowProductSpaceMaker {
 public:
  RowProductSpaceMaker(const Region& region, const ProductNode& node, SourcePosition at)
      : region_(region), graph_(region.graph()), node_(node), at_(at) {}

  RowProductSpace make() {
    made_.product = make_product_operands(region_, node_, at_);
    made_.product_sizes = graph_.values[node_.value].meta.sizes;
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

//! Puts loads of parts, and what adds them, in the place of the sum.
class PartsMaker {
 public:
  PartsMaker(const RowProductSpace& space, ValueId parts, std::int64_t split)
      : space_(space), parts_(parts), split_(split), made_(space.rows) {
    made_.fused.terms.clear();
    made_.in_columns.clear();
  }

  RowSpace make() {
    for (std::size_t i = 0; i < space_.rows.fused.terms.size(); ++i) {
      Term term = space_.rows.fused.terms[i];
      for (int& operand : term.operands) operand = now_at(operand);
      moved_.push_back(term.code == sum_code ? added_parts() : add(std::move(term), space_.rows.in_columns[i]));
    }
    for (int& reduction : made_.reductions) reduction = now_at(reduction);
    for (FusedTerms::Output& output : made_.fused.outputs) output.term = now_at(output.term);
    made_.main_load_ = first_part_;
    const ProductResults& results = space_.product.results;  // whose loops walk through parts, however the product lies
    made_.rows = results.batches;
    made_.rows.insert(made_.rows.end(), results.rows.begin(), results.rows.end());
    made_.columns = results.columns;
    return std::move(made_);
  }

 private:
  int now_at(int term) const { return moved_[static_cast<std::size_t>(term)]; }

  int add(Term term, bool in_columns) {
    made_.fused.terms.push_back(std::move(term));
    made_.in_columns.push_back(in_columns);
    return static_cast<int>(made_.fused.terms.size()) - 1;
  }

  //! In their order.
  int added_parts() {
    const Affine place = memory_place(part_meta(), space_.rows.product_points.front());
    int sum = -1;
    for (std::int64_t part = 0; part < split_; ++part) {
      Affine at = place;
      at.offset += part * part_meta().numel();
      const int load = add({TermKind::load, ScalarKind::real, {}, {}, parts_, at}, true);
      if (part == 0) first_part_ = load;
      sum = part == 0 ? load : add({TermKind::map, ScalarKind::real, "{0} + {1}", {sum, load}}, true);
    }
    return sum;
  }

  TensorMeta part_meta() const { return {DType::f32, space_.product_sizes, contiguous_strides(space_.product_sizes)}; }

  const RowProductSpace& space_;
  ValueId parts_;
  std::int64_t split_;
  RowSpace made_;
  std::vector<int> moved_;  //!< by term: where it is now
  int first_part_ = -1;
};

}  // namespace

RowSpace rows_of_parts(const RowProductSpace& space, ValueId parts, std::int64_t split) {
  return PartsMaker(space, parts, split).make();
}

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
