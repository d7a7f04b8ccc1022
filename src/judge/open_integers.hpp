// Integer results behind a step of the task: which other values than the oracle's an honest program may come to.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "judge/jumps.hpp"
#include "judge/value_facts.hpp"

namespace cudal1 {

struct OpenIntegers {
  at::Tensor low, high;          //!< 64 bits: from the least to the most that an element may be
  std::vector<at::Tensor> seen;  //!< not empty: the only values that it may have
};

OpenIntegers open_integers(const at::Tensor& exact, const SeenResults& seen, const ValueFacts& facts);

//! How many elements are none of what they may be.
std::int64_t count_mismatches(const OpenIntegers& open, const at::Tensor& candidate);

}  // namespace cudal1
