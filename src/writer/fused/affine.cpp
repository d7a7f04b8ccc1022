#include "writer/fused/affine.hpp"

#include <algorithm>
#include <set>

namespace cudal1 {

void Affine::add(int atom, std::int64_t factor) {
  if (factor == 0) return;
  const auto at = std::ranges::lower_bound(factors, atom, {}, &std::pair<int, std::int64_t>::first);
  if (at == factors.end() || at->first != atom) {
    factors.insert(at, {atom, factor});
  } else if ((at->second += factor) == 0) {
    factors.erase(at);
  }
}

void Affine::add(const Affine& other, std::int64_t times) {
  offset += times * other.offset;
  for (const auto& [atom, factor] : other.factors) add(atom, times * factor);
}

std::int64_t Affine::factor_of(int atom) const {
  const auto at = std::ranges::find(factors, atom, &std::pair<int, std::int64_t>::first);
  return at == factors.end() ? 0 : at->second;
}

int AtomTable::add(std::int64_t size) {
  atoms_.push_back({size});
  return count() - 1;
}

int AtomTable::add_computed(std::int64_t size, int term) {
  atoms_.push_back({size, -1, -1, Computed{term}});
  return count() - 1;
}

void AtomTable::split(int atom, std::int64_t inner) {
  const int outer_atom = add(size(atom) / inner), inner_atom = add(inner);
  atoms_[atom].outer = outer_atom;
  atoms_[atom].inner = inner_atom;
  if (!atoms_[atom].computed) return;
  atoms_[outer_atom].computed = Computed{-1, atom, inner, false};
  atoms_[inner_atom].computed = Computed{-1, atom, inner, true};
}

void AtomTable::add_resolved(int atom, std::int64_t factor, Affine& sum) const {
  const Atom& entry = atoms_[atom];
  if (entry.outer < 0) return sum.add(atom, factor);
  add_resolved(entry.outer, factor * size(entry.inner), sum);
  add_resolved(entry.inner, factor, sum);
}

void AtomTable::add_parts(int atom, std::vector<int>& parts) const {
  const Atom entry = atoms_[atom];
  if (entry.outer < 0) return parts.push_back(atom);
  add_parts(entry.outer, parts);
  add_parts(entry.inner, parts);
}

std::vector<int> AtomTable::parts_of(const std::vector<int>& atoms) const {
  std::vector<int> parts;
  for (const int atom : atoms) add_parts(atom, parts);
  return parts;
}

Affine AtomTable::resolved(const Affine& affine) const {
  Affine sum{affine.offset, {}};
  for (const auto& [atom, factor] : affine.factors) add_resolved(atom, factor, sum);
  return sum;
}

Point AtomTable::resolved(const Point& point) const {
  Point result;
  for (const Affine& index : point) result.push_back(resolved(index));
  return result;
}

std::int64_t AtomTable::largest(const Affine& affine) const {
  std::int64_t sum = affine.offset;
  for (const auto& [atom, factor] : affine.factors) sum += std::max<std::int64_t>(0, factor * (size(atom) - 1));
  return sum;
}

std::int64_t AtomTable::smallest(const Affine& affine) const {
  std::int64_t sum = affine.offset;
  for (const auto& [atom, factor] : affine.factors) sum += std::min<std::int64_t>(0, factor * (size(atom) - 1));
  return sum;
}

bool AtomTable::pass_once(const Point& point, const std::vector<std::int64_t>& sizes) const {
  std::set<int> seen;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    auto factors = point[dim].factors;
    std::ranges::sort(factors, {}, &std::pair<int, std::int64_t>::second);
    std::int64_t passed = 1;
    for (const auto& [atom, factor] : factors) {
      if (computed(atom) || factor != passed || !seen.insert(atom).second) return false;
      passed *= size(atom);
    }
    if (point[dim].offset != 0 || passed != sizes[dim]) return false;
  }
  return true;
}

}  // namespace cudal1
