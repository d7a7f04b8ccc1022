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

at::Tensor largest_errors(const std::vector<at::Tensor>& results, const BudgetTerms& terms, std::int64_t dimension) {
  at::Tensor largest = largest_errors_along(results.at(0), terms.exact, terms.type, dimension);
  for (std::size_t i = 1; i < results.size(); ++i)
    largest = at::maximum(largest, largest_errors_along(results[i], terms.exact, terms.type, dimension));
  return largest;
}

bool has_parts(const at::Tensor& tensor, std::int64_t dimension) {
  return tensor.size(dimension) > 1 && tensor.numel() / tensor.size(dimension) >= fewest_elements;
}

//! Is some part small beside the whole?
bool are_uneven(const at::Tensor& sizes) { return (sizes.min() * slack).lt(sizes.max()).item<bool>(); }

at::Tensor budget_along(std::int64_t dimension, const at::Tensor& sizes, const BudgetTerms& terms) {
  const at::Tensor floor =
      at::maximum(sizes * terms.floor_ulps, largest_errors(terms.moved, terms, dimension)) + terms.denormals;
  const at::Tensor references = largest_errors(terms.references, terms, dimension);
  return at::maximum(references * terms.reference_factor, floor + sizes * terms.storage) * slack;
}

}  // namespace

std::vector<SliceBudget> slice_budgets(const BudgetTerms& terms) {
  std::vector<SliceBudget> budgets;
  for (std::int64_t d = 0; d < terms.exact.dim(); ++d) {
    if (!has_parts(terms.exact, d)) continue;
    const at::Tensor sizes = largest_sizes_along(terms.exact, terms.type, d);
    if (are_uneven(sizes)) budgets.push_back({d, budget_along(d, sizes, terms)});
  }
  return budgets;
}

SliceError worst_slice(const std::vector<SliceBudget>& budgets, const at::Tensor& result, const at::Tensor& exact,
                       at::ScalarType type) {
  SliceError worst;
  double largest_share = 0.0;
  for (const SliceBudget& slices : budgets) {
    const at::Tensor largest = largest_errors_along(result, exact, type, slices.dimension);
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
  const at::ScalarType type = reference.scalar_type();
  for (std::int64_t d = 0; d < wide.dim(); ++d)
    if (has_parts(wide, d) && !largest_errors_along(candidate, wide, type, d)
                                   .le(largest_sizes_along(wide, type, d) * (slack * relative))
                                   .all()
                                   .item<bool>())
      return false;
  return true;
}

}  // namespace cudal1
