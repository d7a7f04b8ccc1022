// Parts of an output that follow the inputs by little beside their own size, or beside that of other parts: in both
// budgets, a part that has nothing to do with the inputs may be lost.
#pragma once

#include <vector>

#include "judge/budget_formula.hpp"
#include "judge/evaluation.hpp"

namespace cudal1 {

//! What native input sets make a result differ by: root mean square over the elements and over the square root of two.
struct Variation {
  double whole = 0.0;              //!< 0 for integers
  std::vector<at::Tensor> slices;  //!< by dimension, then by index along it; undefined where parts are too small
};

Variation variation_between(const at::Tensor& first, const at::Tensor& second);
//! The larger of each.
Variation larger_of(const Variation& first, const Variation& second);

//! What the parts of one output may be off, root mean square, cut along one dimension.
struct VariationLimit {
  std::int64_t dimension = 0;
  at::Tensor rms;  //!< fp64, by index; infinite where a part does not follow the inputs at all
};

//! At most half of what a part varies by, unless PyTorch is not much better, or the plain rounding of its sums.
double variation_limit(const BudgetTerms& terms, const Budget& whole, const Variation& variation);
//! For dimensions along which some part's variation is lost in the budget of the whole; mostly none.
std::vector<VariationLimit> variation_limits(const BudgetTerms& terms, const Budget& whole, const Variation& variation);

//! The part that takes the largest share of its limit.
SliceError worst_limit(const std::vector<VariationLimit>& limits, const at::Tensor& result, const at::Tensor& exact,
                       at::ScalarType type);

}  // namespace cudal1
