// A region with operators that look at windows: the loops of its outputs, and along which of them windows overlap.
#pragma once

#include <optional>
#include <vector>

#include "program/rejection.hpp"
#include "writer/fused/loops.hpp"
#include "writer/fused/region.hpp"
#include "writer/fused/terms.hpp"

namespace cudal1 {

struct WindowSpace {
  FusedTerms fused;
  std::vector<int> reductions;  //!< terms that go through a window, each after those that it needs
  std::vector<Loop> loops;      //!< of the outputs, in the order in which the first of them lies in memory; never empty

  bool is_simple() const { return reductions.size() == 1; }
  //! Of a simple one.
  const Term& window() const { return fused.terms[reductions.front()]; }
  //! Reductions that these terms are made of, without those that other reductions need.
  std::vector<int> reductions_under(const std::vector<int>& targets) const;
  //! Atoms inside windows, and those that are made by division: none of them is a loop of the outputs.
  std::vector<int> window_atoms() const;
  bool is_of_window(int atom) const;
  std::int64_t output_count() const { return product_of_sizes(loops); }
};

//! Throws Rejection at `at` where outputs are not made of windows, or windows would be gone through many times.
WindowSpace make_window_space(const Region& region, SourcePosition at);

//! Neighbouring outputs along a dimension, and what their windows share: all that is read there is found by
//! stride · output + dilation · inside, which is called a column.
struct Slide {
  std::size_t dim = 0;           //!< of the windows
  std::size_t loop = 0;          //!< of the outputs
  int output = -1, inside = -1;  //!< atoms
  std::int64_t stride = 1, dilation = 1;
  std::int64_t length = 1;        //!< of the window
  std::vector<int> column_terms;  //!< what depends on columns alone, the last of it

  bool overlaps() const { return dilation * (length - 1) >= stride; }
  //! Columns that so many neighbours look at.
  std::int64_t columns(std::int64_t items) const { return stride * (items - 1) + dilation * (length - 1) + 1; }
};

//! Of a simple one; nothing where outputs along this dimension share nothing that can be told.
std::optional<Slide> slide_along(const WindowSpace& space, std::size_t dim);

}  // namespace cudal1
