// A region with scans as a table: every scan runs along the columns of a row.
#pragma once

#include <vector>

#include "program/rejection.hpp"
#include "writer/fused/loops.hpp"
#include "writer/fused/region.hpp"
#include "writer/fused/terms.hpp"

namespace cudal1 {

struct ScanSpace {
  FusedTerms fused;
  std::vector<int> scans;  //!< terms, each after those it needs
  std::vector<Loop> rows;  //!< outermost first, never empty
  Loop column;
  bool backwards = false;  //!< the last column comes first
  int main_load = -1;      //!< the tensor that most is read of; -1: none

  std::int64_t row_count() const { return product_of_sizes(rows); }
};

//! Throws Rejection at `at` where scans run along different columns.
ScanSpace make_scan_space(const Region& region, SourcePosition at);

}  // namespace cudal1
