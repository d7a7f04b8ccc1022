// Budgets of the parts of an output. That of the whole is made for its largest numbers; a row, column or channel of far
// smaller ones could be anything below it, zero for example.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "judge/evaluation.hpp"

namespace cudal1 {

//! What the parts of one output may be off, cut along one dimension.
struct SliceBudget {
  std::int64_t dimension = 0;
  at::Tensor largest;  //!< fp64, by index along the dimension: the largest error allowed there
};

//! What a budget is made of, before it is cut into parts.
struct BudgetTerms {
  at::Tensor exact;                    //!< fp64
  std::vector<at::Tensor> references;  //!< PyTorch's own results
  std::vector<at::Tensor> moved;       //!< the oracle, moved by what an honest program may be off
  at::ScalarType type;                 //!< of the output
  double floor_ulps = 0.0;             //!< g · 2^-23: of a part's largest number
  double storage = 0.0;                //!< of a part's largest number, for being stored in 16 bits
  double denormals = 0.0;              //!< absolute
  double reference_factor = 0.0;
};

//! For each dimension along which some part's numbers are far below the largest of the output; mostly none.
std::vector<SliceBudget> slice_budgets(const BudgetTerms& terms);

//! The part that takes the largest share of its budget. `type`: of the output.
SliceError worst_slice(const std::vector<SliceBudget>& budgets, const at::Tensor& result, const at::Tensor& exact,
                       at::ScalarType type);

//! A cheap sufficient test: is every part within the least budget that its numbers allow, as the reference has them on
//! these inputs? On other inputs other parts are small.
bool slices_surely_close(const at::Tensor& candidate, const at::Tensor& reference, double relative);

}  // namespace cudal1
