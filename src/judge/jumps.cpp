#include "judge/jumps.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <limits>

#include "judge/tensor_sample.hpp"

namespace cudal1 {
namespace {

constexpr double out_of_proportion = 64.0;
constexpr double most_jumping = 0.1;

//! How far each element moves at most; infinity where it becomes finite or ceases to be.
at::Tensor movements(const at::Tensor& exact, const std::vector<at::Tensor>& results) {
  const at::Tensor finite = exact.isfinite();
  const at::Tensor unbounded = at::full({}, std::numeric_limits<double>::infinity(), exact.options());
  at::Tensor farthest = at::zeros_like(exact);
  for (const at::Tensor& given : results) {
    const at::Tensor result = given.to(exact.device(), at::kDouble);
    const at::Tensor both = finite.logical_and(result.isfinite());
    const at::Tensor same = exact.eq(result).logical_or(exact.isnan().logical_and(result.isnan()));
    const at::Tensor moved = at::where(both, (result - exact).abs(), at::where(same, at::zeros_like(exact), unbounded));
    farthest = at::maximum(farthest, moved);
  }
  return farthest;
}

//! What nine in ten elements of a sample do not exceed.
double usual_movement(const at::Tensor& movement) {
  const at::Tensor some = sample_of(movement);
  const auto rank = static_cast<std::int64_t>((1.0 - most_jumping) * static_cast<double>(some.numel()));
  return std::get<0>(some.sort())[std::min(rank, some.numel() - 1)].item<double>();
}

}  // namespace

Jumps find_jumps(const at::Tensor& exact, const std::vector<at::Tensor>& results, double usual) {
  if (exact.numel() == 0) return {};
  const at::Tensor movement = movements(exact, results);
  const double limit = out_of_proportion * std::max(usual, usual_movement(movement));
  at::Tensor elements = movement.gt(limit);
  const auto count = elements.sum().item<std::int64_t>();
  if (count == 0 || static_cast<double>(count) > most_jumping * static_cast<double>(exact.numel())) return {};
  return {elements, movement.masked_select(elements).max().item<double>()};
}

at::Tensor without_jumps(const at::Tensor& result, const at::Tensor& exact, const Jumps& jumps) {
  if (!jumps.elements.defined()) return result;
  const at::Tensor elements = jumps.elements.to(result.device());
  return at::where(elements, exact.to(result.device(), result.scalar_type()), result);
}

}  // namespace cudal1
