#include "judge/slice_variation.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/error_sums.hpp"
#include "judge/perturbation.hpp"
#include "judge/slice_budget.hpp"

namespace cudal1 {
namespace {

constexpr double followed_share = 0.5;
constexpr double told_apart_factor = 4.0;  // times PyTorch's error

//! The least root mean square of a sum's rounding errors that no honest program can be blamed for, twice over; of the
//! largest number.
double rounding_of_sums(const BudgetTerms& terms) {
  return std::sqrt(std::min(static_cast<double>(terms.terms), longest_walk) / 3.0) * terms.unit();
}

at::Tensor reference_errors_along(const BudgetTerms& terms, std::int64_t dimension) {
  return largest_over(terms.references, [&](const at::Tensor& result) {
    return rms_errors_along(result, terms.exact, terms.type, dimension);
  });
}

//! How far the numbers of each part lie from their mean.
at::Tensor spreads_along(const at::Tensor& exact, std::int64_t dimension) {
  return exact.nan_to_num(0.0, 0.0, 0.0).movedim(dimension, 0).flatten(1).var(1, false).sqrt();
}

//! Inputs and weights that say how large a part is may be others than those of the draws that it was seen to vary in.
//! Then its numbers differ among each other, too.
at::Tensor present_variation(const at::Tensor& exact, std::int64_t dimension, const at::Tensor& variation) {
  return at::maximum(variation, spreads_along(exact, dimension));
}

at::Tensor limits_along(const BudgetTerms& terms, std::int64_t dimension, const at::Tensor& variation) {
  const double scatter = scatter_of(terms.exact.numel() / terms.exact.size(dimension));
  const at::Tensor told_apart = reference_errors_along(terms, dimension) * (told_apart_factor * scatter);
  const at::Tensor rounding =
      largest_sizes_along(terms.exact, terms.type, dimension) * (rounding_of_sums(terms) * scatter);
  const at::Tensor limits = at::maximum(present_variation(terms.exact, dimension, variation) * followed_share,
                                        at::maximum(told_apart, rounding));
  return limits.masked_fill(variation.le(0.0), std::numeric_limits<double>::infinity());
}

double root_mean_square(const at::Tensor& numbers) { return std::sqrt(numbers.square().mean().item<double>()); }

}  // namespace

Variation variation_between(const at::Tensor& first, const at::Tensor& second) {
  if (!first.is_floating_point() || first.numel() == 0) return {};
  const at::Tensor squares = (first - second).nan_to_num_(0.0, 0.0, 0.0).square_().div_(2.0);
  Variation found{std::sqrt(squares.mean().item<double>()), {}};
  for (std::int64_t d = 0; d < first.dim(); ++d)
    found.slices.push_back(has_parts(first, d) ? mean_along(squares, d).sqrt() : at::Tensor());
  return found;
}

Variation larger_of(const Variation& first, const Variation& second) {
  if (first.slices.size() != second.slices.size()) return first.whole > second.whole ? first : second;
  Variation larger{std::max(first.whole, second.whole), first.slices};
  for (std::size_t d = 0; d < larger.slices.size(); ++d)
    if (larger.slices[d].defined()) larger.slices[d] = at::maximum(first.slices[d], second.slices[d]);
  return larger;
}

double variation_limit(const BudgetTerms& terms, const Budget& whole, const Variation& variation) {
  if (followed_share * variation.whole >= whole.rms) return whole.rms;  // mostly
  double least_spread = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < variation.slices.size(); ++d)
    if (variation.slices[d].defined())
      least_spread = std::min(least_spread, root_mean_square(spreads_along(terms.exact, static_cast<std::int64_t>(d))));
  const double present = std::isfinite(least_spread) ? std::max(variation.whole, least_spread) : variation.whole;
  return std::max(
      {followed_share * present, told_apart_factor * whole.reference_rms, rounding_of_sums(terms) * whole.scale});
}

std::vector<VariationLimit> variation_limits(const BudgetTerms& terms, const Budget& whole,
                                             const Variation& variation) {
  std::vector<VariationLimit> limits;
  for (std::size_t d = 0; d < variation.slices.size(); ++d) {
    const at::Tensor& slices = variation.slices[d];
    if (!slices.defined()) continue;
    const at::Tensor lost = slices.gt(0.0).logical_and(slices.lt(part_slack * whole.max));
    const auto dimension = static_cast<std::int64_t>(d);
    if (lost.any().item<bool>()) limits.push_back({dimension, limits_along(terms, dimension, slices)});
  }
  return limits;
}

SliceError worst_limit(const std::vector<VariationLimit>& limits, const at::Tensor& result, const at::Tensor& exact,
                       at::ScalarType type) {
  SliceError worst;
  for (const VariationLimit& limit : limits)
    keep_worse_slice(worst, rms_errors_along(result, exact, type, limit.dimension), limit.rms, limit.dimension, true);
  return worst;
}

}  // namespace cudal1
