#include "writer/fused/view_points.hpp"

#include <algorithm>
#include <cstdlib>

namespace cudal1 {
namespace {

//! The dimension in which a step of this many elements is a whole number of indices.
std::optional<std::size_t> dimension_of_step(const TensorMeta& meta, const std::vector<std::size_t>& dims,
                                             std::int64_t step) {
  for (const std::size_t dim : dims)
    if (meta.strides[dim] <= std::abs(step)) return step % meta.strides[dim] == 0 ? std::optional(dim) : std::nullopt;
  return std::nullopt;
}

//! Splits the first atom that runs out of the dimension it walks in. False: there is none; nothing: it cannot be done.
std::optional<bool> split_one(const TensorMeta& meta, const std::vector<std::size_t>& dims, const Affine& place,
                              AtomTable& atoms) {
  for (const auto& [atom, factor] : place.factors) {
    const auto dim = dimension_of_step(meta, dims, factor);
    if (!dim) return std::nullopt;
    const std::int64_t step = std::abs(factor / meta.strides[*dim]);
    if (step * (atoms.size(atom) - 1) < meta.sizes[*dim]) continue;
    const std::int64_t inner = meta.sizes[*dim] / step;
    if (inner < 2 || meta.sizes[*dim] % step != 0 || atoms.size(atom) % inner != 0) return std::nullopt;
    atoms.split(atom, inner);
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::size_t> dimensions_by_stride(const TensorMeta& meta) {
  std::vector<std::size_t> dims;
  for (std::size_t i = 0; i < meta.sizes.size(); ++i)
    if (meta.sizes[i] > 1) dims.push_back(i);
  std::ranges::stable_sort(dims, [&](std::size_t a, std::size_t b) { return meta.strides[a] > meta.strides[b]; });
  return dims;
}

Affine memory_place(const TensorMeta& meta, const Point& point) {
  Affine place;
  for (std::size_t i = 0; i < point.size(); ++i) place.add(point[i], meta.strides[i]);
  return place;
}

std::optional<Point> point_at(const TensorMeta& dense, const Affine& at, AtomTable& atoms) {
  const std::vector<std::size_t> dims = dimensions_by_stride(dense);
  Affine place = atoms.resolved(at);
  for (;;) {
    const auto split = split_one(dense, dims, place, atoms);
    if (!split) return std::nullopt;
    if (!*split) break;
    place = atoms.resolved(place);
  }
  Point point(dense.sizes.size());
  std::int64_t rest = place.offset;
  for (const std::size_t dim : dims) {
    point[dim].offset = rest / dense.strides[dim];
    rest %= dense.strides[dim];
  }
  for (const auto& [atom, factor] : place.factors) {
    const std::size_t dim = *dimension_of_step(dense, dims, factor);
    point[dim].add(atom, factor / dense.strides[dim]);
  }
  const auto inside = [&](std::size_t dim) {
    return atoms.smallest(point[dim]) >= 0 && atoms.largest(point[dim]) < dense.sizes[dim];
  };
  return rest == 0 && std::ranges::all_of(dims, inside) ? std::optional(point) : std::nullopt;
}

}  // namespace cudal1
