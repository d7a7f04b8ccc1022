// Places as sums: an offset, and for each loop variable a factor. What a fused kernel reads and writes is found with
// these, through any chain of views.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cudal1 {

//! offset + Σ factor · atom. Factors are never 0, atoms ascend.
struct Affine {
  std::int64_t offset = 0;
  std::vector<std::pair<int, std::int64_t>> factors;

  void add(int atom, std::int64_t factor);
  void add(const Affine& other, std::int64_t times);
  std::int64_t factor_of(int atom) const;
  bool operator==(const Affine&) const = default;
  auto operator<=>(const Affine&) const = default;
};

//! An index for each dimension of a tensor.
using Point = std::vector<Affine>;

//! The loop variables of a fused kernel. A dimension starts as one; where a view inside the kernel cuts it, it is split
//! in two, and what was said in terms of the old one is said anew by `resolved`. Some are no loops: their values are
//! computed, as indices that a tensor holds are.
class AtomTable {
 public:
  //! The value is that of a term; of a part of such an atom, the quotient or the rest of the whole.
  struct Computed {
    int term = -1;
    int whole = -1;
    std::int64_t divisor = 1;
    bool is_rest = false;
  };

  int add(std::int64_t size);
  int add_computed(std::int64_t size, int term);
  const std::optional<Computed>& computed(int atom) const { return atoms_[atom].computed; }
  std::int64_t size(int atom) const { return atoms_[atom].size; }
  //! Into an outer and an inner one; `inner` divides the size.
  void split(int atom, std::int64_t inner);
  bool is_split(int atom) const { return atoms_[atom].outer >= 0; }
  int count() const { return static_cast<int>(atoms_.size()); }
  //! What has become of these, in their order, outer ones first.
  std::vector<int> parts_of(const std::vector<int>& atoms) const;
  Affine resolved(const Affine& affine) const;
  Point resolved(const Point& point) const;
  std::int64_t largest(const Affine& affine) const;
  std::int64_t smallest(const Affine& affine) const;
  //! Do the loops pass every index of such a tensor exactly once, if nothing else loops?
  bool pass_once(const Point& point, const std::vector<std::int64_t>& sizes) const;

 private:
  struct Atom {
    std::int64_t size = 1;
    int outer = -1, inner = -1;  //!< not negative: it was split into these
    std::optional<Computed> computed = {};
  };
  void add_resolved(int atom, std::int64_t factor, Affine& sum) const;
  void add_parts(int atom, std::vector<int>& parts) const;
  std::vector<Atom> atoms_;
};

}  // namespace cudal1
