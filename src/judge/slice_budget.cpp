#include "judge/slice_budget.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>

#include "judge/error_sums.hpp"

namespace cudal1 {
namespace {

// A part of a few numbers says little about how far a program may be off in it.
constexpr std::int64_t fewest_elements = 16;
// The largest of 16 draws lies within 8 times that of a million; the budget of a part is that much wider than the
// formula for a whole output says, and a part within 8 times of the largest needs no budget of its own.
constexpr double slack = 8.0;

//! The largest element of each part.
at::Tensor largest_by_slice(const at::Tensor& values, std::int64_t dimension) {
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < values.dim(); ++d)
    if (d != dimension) others.push_back(d);
  return values.amax(others);
}

at::Tensor largest_errors(const std::vector<at::Tensor>& errors, std::int64_t dimension) {
  at::Tensor largest = largest_by_slice(errors.at(0), dimension);
  for (std::size_t i = 1; i < errors.size(); ++i)
    largest = at::maximum(largest, largest_by_slice(errors[i], dimension));
  return largest;
}

std::vector<at::Tensor> errors_of_all(const std::vector<at::Tensor>& results, const BudgetTerms& terms) {
  std::vector<at::Tensor> errors;
  for (const at::Tensor& result : results) errors.push_back(counted_errors(result, terms.exact, terms.type));
  return errors;
}

bool has_parts(const at::Tensor& tensor, std::int64_t dimension) {
  return tensor.size(dimension) > 1 && tensor.numel() / tensor.size(dimension) >= fewest_elements;
}

//! Dimensions along which some part is small beside the whole.
std::vector<std::int64_t> uneven_dimensions(const at::Tensor& sizes) {
  std::vector<std::int64_t> found;
  for (std::int64_t d = 0; d < sizes.dim(); ++d) {
    if (!has_parts(sizes, d)) continue;
    const at::Tensor largest = largest_by_slice(sizes, d);
    if ((largest.min() * slack).lt(largest.max()).item<bool>()) found.push_back(d);
  }
  return found;
}

}  // namespace

std::vector<SliceBudget> slice_budgets(const BudgetTerms& terms) {
  const at::Tensor sizes = counted_sizes(terms.exact, terms.type);
  const std::vector<std::int64_t> dimensions = uneven_dimensions(sizes);
  std::vector<SliceBudget> budgets;
  if (dimensions.empty()) return budgets;
  const std::vector<at::Tensor> references = errors_of_all(terms.references, terms),
                                movements = errors_of_all(terms.moved, terms);
  for (const std::int64_t d : dimensions) {
    const at::Tensor size = largest_by_slice(sizes, d);
    const at::Tensor floor = at::maximum(size * terms.floor_ulps, largest_errors(movements, d)) + terms.denormals;
    const at::Tensor budget =
        at::maximum(largest_errors(references, d) * terms.reference_factor, floor + size * terms.storage);
    budgets.push_back({d, budget * slack});
  }
  return budgets;
}

SliceError worst_slice(const std::vector<SliceBudget>& budgets, const at::Tensor& errors) {
  SliceError worst;
  double largest_share = 0.0;
  for (const SliceBudget& slices : budgets) {
    const at::Tensor largest = largest_by_slice(errors, slices.dimension);
    const at::Tensor share = largest / slices.largest.to(largest.device());
    const auto index = share.argmax().item<std::int64_t>();
    if (share[index].item<double>() <= largest_share) continue;
    largest_share = share[index].item<double>();
    worst = {largest[index].item<double>(), slices.largest[index].item<double>(), slices.dimension, index};
  }
  return worst;
}

bool slices_surely_close(const at::Tensor& candidate, const at::Tensor& reference, double relative) {
  const at::Tensor wide = reference.to(at::kDouble);
  const at::Tensor errors = counted_errors(candidate, wide, reference.scalar_type()),
                   sizes = counted_sizes(wide, reference.scalar_type());
  for (std::int64_t d = 0; d < sizes.dim(); ++d)
    if (has_parts(sizes, d) &&
        !largest_by_slice(errors, d).le(largest_by_slice(sizes, d) * (slack * relative)).all().item<bool>())
      return false;
  return true;
}

}  // namespace cudal1
