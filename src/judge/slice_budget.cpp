#include "judge/slice_budget.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>

#include "judge/error_sums.hpp"

namespace cudal1 {
namespace {

at::Tensor largest_errors(const std::vector<at::Tensor>& results, const BudgetTerms& terms, std::int64_t dimension) {
  return largest_over(results, [&](const at::Tensor& result) {
    return largest_errors_along(result, terms.exact, terms.type, dimension);
  });
}

//! Is some part small beside the whole?
bool are_uneven(const at::Tensor& sizes) { return (sizes.min() * part_slack).lt(sizes.max()).item<bool>(); }

at::Tensor budget_along(std::int64_t dimension, const at::Tensor& sizes, const BudgetTerms& terms) {
  const at::Tensor floor =
      at::maximum(sizes * terms.floor_ulps, largest_errors(terms.moved, terms, dimension)) + terms.denormals();
  const at::Tensor references = largest_errors(terms.references, terms, dimension);
  return at::maximum(references * terms.reference_factor(), floor + sizes * terms.storage()) * part_slack;
}

}  // namespace

bool has_parts(const at::Tensor& tensor, std::int64_t dimension) {
  return tensor.size(dimension) > 1 && tensor.numel() / tensor.size(dimension) >= fewest_in_a_part;
}

std::vector<SliceBudget> slice_budgets(const BudgetTerms& terms) {
  std::vector<SliceBudget> budgets;
  for (std::int64_t d = 0; d < terms.exact.dim(); ++d) {
    if (!has_parts(terms.exact, d)) continue;
    const at::Tensor sizes = largest_sizes_along(terms.exact, terms.type, d);
    if (are_uneven(sizes)) budgets.push_back({d, budget_along(d, sizes, terms)});
  }
  return budgets;
}

void keep_worse_slice(SliceError& worst, const at::Tensor& errors, const at::Tensor& budgets, std::int64_t dimension,
                      bool is_rms) {
  const at::Tensor allowed = budgets.to(errors.device());
  // Nothing of nothing is no share.
  const at::Tensor shares = (errors / allowed).nan_to_num(0.0);
  const auto index = shares.argmax().item<std::int64_t>();
  if (shares[index].item<double>() <= worst.share()) return;
  worst = {errors[index].item<double>(), allowed[index].item<double>(), dimension, index, is_rms};
}

SliceError worst_slice(const std::vector<SliceBudget>& budgets, const at::Tensor& result, const at::Tensor& exact,
                       at::ScalarType type) {
  SliceError worst;
  for (const SliceBudget& slices : budgets)
    keep_worse_slice(worst, largest_errors_along(result, exact, type, slices.dimension), slices.largest,
                     slices.dimension, false);
  return worst;
}

bool slices_surely_close(const at::Tensor& candidate, const at::Tensor& reference, double relative) {
  const at::Tensor wide = reference.to(at::kDouble);
  const at::ScalarType type = reference.scalar_type();
  for (std::int64_t d = 0; d < wide.dim(); ++d)
    if (has_parts(wide, d) && !largest_errors_along(candidate, wide, type, d)
                                   .le(largest_sizes_along(wide, type, d) * (part_slack * relative))
                                   .all()
                                   .item<bool>())
      return false;
  return true;
}

}  // namespace cudal1
