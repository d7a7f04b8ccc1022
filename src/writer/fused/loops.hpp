// Loops of a kernel: atoms in an order, those that every access walks through as one made one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "writer/fused/terms.hpp"

namespace cudal1 {

struct Loop {
  std::int64_t size = 1;
  std::vector<int> atoms;  //!< outermost first

  //! How far an access moves when the loop's index grows by one.
  std::int64_t stride_of(const Affine& place) const { return place.factor_of(atoms.back()); }
};

//! `atoms`: outermost first. Those in `apart` keep a loop of their own, since their index itself is asked for.
std::vector<Loop> joined_loops(const AtomTable& table, const std::vector<int>& atoms, const std::vector<Affine>& places,
                               const std::set<int>& apart);

//! Atoms in the order in which a tensor at these places lies in memory, outermost first; at the front those that it
//! does not depend on.
std::vector<int> in_memory_order(const Affine& place, const std::set<int>& atoms);

std::int64_t product_of_sizes(const std::vector<Loop>& loops);

//! "x.offset + 64u * i0 + i1", of those loops that the access depends on; `names` are the loops' indices.
std::string place_text(const Affine& place, const std::vector<Loop>& loops, const std::vector<std::string>& names,
                       std::string_view suffix);

//! "const unsigned i1 = i % 64u, i0 = i / 64u;": the loops' indices of a running number.
std::string index_statements(const std::vector<Loop>& loops, const std::vector<std::string>& names,
                             const std::string& number, bool wide, const std::string& indent);

}  // namespace cudal1
