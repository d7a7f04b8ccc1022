// A region with reductions as a table: every reduction runs through the columns of a row.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "base/result.hpp"
#include "writer/fused/loops.hpp"
#include "writer/fused/region.hpp"
#include "writer/fused/terms.hpp"

namespace cudal1 {

struct RowSpace {
  FusedTerms fused;
  std::vector<int> reductions;       //!< terms, each after those it needs
  std::vector<std::size_t> pass_of;  //!< by reduction: those that do not need each other share a pass
  std::vector<Loop> rows, columns;   //!< outermost first, never empty
  std::set<int> column_atoms;
  std::vector<bool> in_columns;       //!< by term: has another value in every column
  std::vector<Point> product_points;  //!< of kept products: where their sums are read

  std::int64_t row_count() const { return product_of_sizes(rows); }
  std::int64_t column_count() const { return product_of_sizes(columns); }
  //! The tensor that most is read of; -1 if columns read none.
  int main_load() const { return main_load_; }
  bool output_has_columns(std::size_t output) const;
  bool some_output_has_columns() const;
  std::size_t passes() const { return pass_of.empty() ? 0 : *std::ranges::max_element(pass_of) + 1; }
  //! Loads that differ from column to column and that these terms need.
  std::set<int> column_loads(const std::vector<int>& targets) const;

  int main_load_ = -1;
};

//! What becomes of matrix products: sums over their depth, or loads of their results (Lowering::keep_products).
enum class Products { summed, kept };

//! Throws Rejection at `at` where reductions run through different columns.
RowSpace make_row_space(const Region& region, SourcePosition at, Products products = Products::summed);

}  // namespace cudal1
