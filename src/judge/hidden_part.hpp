// Numbers that are lost in the budget of their output: scores beside a mask of -1e9, which could be anything.
#pragma once

#include <vector>

#include "judge/budget_formula.hpp"
#include "judge/evaluation.hpp"

namespace cudal1 {

//! All numbers up to a size, strewn over the output, but for zeros.
struct HiddenPart {
  double below = 0.0;
  double max = 0.0, rms = 0.0;  //!< what they may be off
};

//! Those that the whole's budget hides, then those that the budget of these hides, and so on; mostly none.
std::vector<HiddenPart> hidden_parts(const BudgetTerms& terms, const Budget& whole);

//! The part that takes the largest share of its budget.
PartError worst_part(const std::vector<HiddenPart>& parts, const at::Tensor& result, const at::Tensor& exact,
                     at::ScalarType type);

}  // namespace cudal1
