// Budgets of the parts of an output. That of the whole is made for its largest numbers; a row, column or channel of far
// smaller ones could be anything below it, zero for example.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/maximum.h>

#include <cstdint>
#include <vector>

#include "judge/budget_formula.hpp"
#include "judge/evaluation.hpp"

namespace cudal1 {

//! What the parts of one output may be off, cut along one dimension.
struct SliceBudget {
  std::int64_t dimension = 0;
  at::Tensor largest;  //!< fp64, by index along the dimension: the largest error allowed there
};

//! For each dimension along which some part's numbers are far below the largest of the output; mostly none.
std::vector<SliceBudget> slice_budgets(const BudgetTerms& terms);

//! `errors(result)`, by index: the largest of all results there.
template <class Errors>
at::Tensor largest_over(const std::vector<at::Tensor>& results, const Errors& errors) {
  at::Tensor largest = errors(results.at(0));
  for (std::size_t i = 1; i < results.size(); ++i) largest = at::maximum(largest, errors(results[i]));
  return largest;
}

//! Are parts along this dimension large enough to be judged by themselves?
bool has_parts(const at::Tensor& tensor, std::int64_t dimension);

//! Puts the part with the largest share of its budget in place of `worst` if that is smaller.
void keep_worse_slice(SliceError& worst, const at::Tensor& errors, const at::Tensor& budgets, std::int64_t dimension,
                      bool is_rms);

//! The part that takes the largest share of its budget. `type`: of the output.
SliceError worst_slice(const std::vector<SliceBudget>& budgets, const at::Tensor& result, const at::Tensor& exact,
                       at::ScalarType type);

//! A cheap sufficient test: is every part within the least budget that its numbers allow, as the reference has them on
//! these inputs? On other inputs other parts are small.
bool slices_surely_close(const at::Tensor& candidate, const at::Tensor& reference, double relative);

}  // namespace cudal1
