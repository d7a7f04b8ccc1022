#include "judge/budget_formula.hpp"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>

#include "judge/error_sums.hpp"
#include "judge/tensor_sample.hpp"

namespace cudal1 {
namespace {

// PyTorch's error is one draw of many; of an output in 16 bits it is that output's own rounding, and no draw.
constexpr double usual_reference_factor = 4.0, half_reference_factor = 2.0;
// The rounding errors of a walk whose partial sums are all as large as its result have a standard deviation of
// sqrt(K / 3) 2^-24 S, which is 0.29 of sqrt(K) 2^-23 S.
constexpr double rms_share = 0.5;
constexpr double smallest_normal = 0x1.0p-126;

//! How many different numbers the tensor holds; of a large one, in a sample spread over it.
std::int64_t distinct_values(const at::Tensor& tensor) { return std::get<0>(at::_unique(sample_of(tensor))).numel(); }

}  // namespace

double BudgetTerms::storage() const {
  if (type == at::kHalf) return 0x1.0p-11;
  return type == at::kBFloat16 ? 0x1.0p-8 : 0.0;
}

double BudgetTerms::reference_factor() const {
  return storage() > 0.0 ? half_reference_factor : usual_reference_factor;
}

double BudgetTerms::denormals() const { return static_cast<double>(terms) * smallest_normal; }

double scatter_of(std::int64_t distinct) {
  return 1.0 + 3.0 / std::sqrt(2.0 * static_cast<double>(std::max<std::int64_t>(1, distinct)));
}

Budget budget_of(const BudgetTerms& terms) {
  Budget budget;
  for (const at::Tensor& result : terms.references) {
    const ErrorSums errors = errors_of(result, terms.exact, terms.type);
    budget.reference_max = std::max(budget.reference_max, errors.largest);
    budget.reference_rms = std::max(budget.reference_rms, errors.root_mean_square());
  }
  for (const at::Tensor& result : terms.moved)
    budget.movement = std::max(budget.movement, errors_of(result, terms.exact, terms.type).largest);
  const ErrorSums sizes = sizes_of(terms.exact, terms.type);
  budget.scale = sizes.largest;
  budget.distinct = distinct_values(terms.exact);
  budget.floor = std::max(terms.floor_ulps * budget.scale, budget.movement) + terms.denormals();
  const double storage = terms.storage(), factor = terms.reference_factor();
  budget.max = std::max(factor * budget.reference_max, budget.floor + storage * budget.scale);
  // A rounding that is off by at most h is off by h / sqrt(3) on average.
  const double rms_floor = rms_share * budget.floor + storage / std::sqrt(3.0) * sizes.root_mean_square();
  budget.rms = std::max(factor * budget.reference_rms, std::min(budget.max, rms_floor * scatter_of(budget.distinct)));
  return budget;
}

}  // namespace cudal1
