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

struct SliceSizes {
  std::int64_t dimension;
  at::Tensor largest;
};

//! Those of which some part is small beside the whole. One copy for all of them waits for the device.
std::vector<SliceSizes> uneven_of(std::vector<SliceSizes> all) {
  if (all.empty()) return all;
  std::vector<at::Tensor> flags;
  for (const SliceSizes& sizes : all) flags.push_back((sizes.largest.min() * part_slack).lt(sizes.largest.max()));
  const at::Tensor brought = at::stack(flags).to(at::kCPU);
  const auto* is_uneven = brought.const_data_ptr<bool>();
  std::vector<SliceSizes> uneven;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_uneven[i]) uneven.push_back(std::move(all[i]));
  return uneven;
}

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
  std::vector<SliceSizes> all;
  for (std::int64_t d = 0; d < terms.exact.dim(); ++d)
    if (has_parts(terms.exact, d)) all.push_back({d, largest_sizes_along(terms.exact, terms.type, d)});
  std::vector<SliceBudget> budgets;
  for (const SliceSizes& sizes : uneven_of(std::move(all)))
    budgets.push_back({sizes.dimension, budget_along(sizes.dimension, sizes.largest, terms)});
  return budgets;
}

void keep_worse_slice(SliceError& worst, const at::Tensor& errors, const at::Tensor& budgets, std::int64_t dimension,
                      bool is_rms) {
  const at::Tensor allowed = budgets.to(errors.device());
  // Nothing of nothing is no share.
  const at::Tensor shares = (errors / allowed).nan_to_num(0.0);
  const at::Tensor index = shares.argmax().view({1});
  // One copy, which waits for the device, instead of four. Indices up to 2^53 are exact in fp64.
  const at::Tensor brought =
      at::cat({shares.gather(0, index), errors.gather(0, index), allowed.gather(0, index), index.to(at::kDouble)})
          .to(at::kCPU, at::kDouble);
  const auto* numbers = brought.const_data_ptr<double>();
  if (numbers[0] <= worst.share()) return;
  worst = {numbers[1], numbers[2], dimension, static_cast<std::int64_t>(numbers[3]), is_rms};
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
