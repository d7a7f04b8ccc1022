#include "judge/hidden_part.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>

#include "judge/error_sums.hpp"

namespace cudal1 {
namespace {

// From so many numbers on, a part is as good as an output of its own.
constexpr std::int64_t many_elements = 4096;
// A budget that is hardly smaller hides what the larger one did.
constexpr double least_gain = 2.0;

at::Tensor elements_up_to(double size, const at::Tensor& exact) {
  const at::Tensor sizes = exact.abs();
  return sizes.le(size).logical_and(sizes.gt(0.0));
}

std::vector<at::Tensor> selected(const std::vector<at::Tensor>& results, const at::Tensor& elements) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& result : results) parts.push_back(result.masked_select(elements));
  return parts;
}

BudgetTerms part_of(const BudgetTerms& terms, const at::Tensor& elements) {
  BudgetTerms part = terms;
  part.exact = terms.exact.masked_select(elements);
  part.references = selected(terms.references, elements);
  part.moved = selected(terms.moved, elements);
  return part;
}

}  // namespace

std::vector<HiddenPart> hidden_parts(const BudgetTerms& terms, const Budget& whole) {
  std::vector<HiddenPart> parts;
  for (double scale = whole.scale, largest = whole.max;;) {
    const double below = part_slack * largest;
    if (below >= scale) return parts;
    const at::Tensor elements = elements_up_to(below, terms.exact);
    const auto count = elements.sum().item<std::int64_t>();
    if (count < fewest_in_a_part) return parts;
    const Budget budget = budget_of(part_of(terms, elements));
    const double slack = count < many_elements ? part_slack : 1.0;
    if (budget.max * slack * least_gain > largest) return parts;
    parts.push_back({below, budget.max * slack, budget.rms * slack});
    scale = budget.scale;
    largest = budget.max * slack;
  }
}

PartError worst_part(const std::vector<HiddenPart>& parts, const at::Tensor& result, const at::Tensor& exact,
                     at::ScalarType type) {
  PartError worst;
  for (const HiddenPart& part : parts) {
    const at::Tensor elements = elements_up_to(part.below, exact);
    const ErrorSums sums = errors_of(result.masked_select(elements), exact.masked_select(elements), type);
    for (const PartError& error : {PartError{sums.largest, part.max, part.below, false},
                                   PartError{sums.root_mean_square(), part.rms, part.below, true}})
      if (worst.budget == 0.0 || error.share() > worst.share()) worst = error;
  }
  return worst;
}

}  // namespace cudal1
