// What an output, or a part of one, may be off: the formula of the match rule (docs/evaluator.md).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "judge/ulp_moves.hpp"

namespace cudal1 {

//! What a budget is made of.
struct BudgetTerms {
  at::Tensor exact;                    //!< fp64
  std::vector<at::Tensor> references;  //!< PyTorch's own results
  std::vector<at::Tensor> moved;       //!< the oracle, moved by what an honest program may be off
  at::ScalarType type;                 //!< of the output
  std::int64_t terms = 1;              //!< of the longest sum it is made of
  double floor_ulps = 0.0;             //!< g · 2^-23: of the largest number

  double unit() const { return ulp_of(type); }
  //! Of a number, for being stored in 16 bits: half an ulp; 0 for other types.
  double storage() const;
  double reference_factor() const;
  //! Hardware may flush every denormal term (atomics do).
  double denormals() const;
};

struct Budget {
  double max = 0.0, rms = 0.0;
  double reference_max = 0.0, reference_rms = 0.0;  //!< E: largest error of PyTorch's own variants
  double scale = 0.0, movement = 0.0;               //!< S and D
  std::int64_t distinct = 0;                        //!< different values among the output's elements, or a sample's
  double floor = 0.0;                               //!< F
};

Budget budget_of(const BudgetTerms& terms);

//! By how much the root mean square of n numbers may exceed the expected one: three of its standard deviations.
double scatter_of(std::int64_t distinct);

//! A part with fewer numbers says little about how far a program may be off in it.
inline constexpr std::int64_t fewest_in_a_part = 16;
//! The largest of 16 draws lies within 8 times that of a million: what a small part's budget is widened by, and how far
//! numbers must lie below others to be a part of their own.
inline constexpr double part_slack = 8.0;

}  // namespace cudal1
