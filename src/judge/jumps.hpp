// Elements behind a step of the task: an honest program may end up on its other side.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cudal1 {

//! Tensors are of the result's shape, and undefined where it is not behind a step.
struct Jumps {
  at::Tensor elements;    //!< boolean: those that jump
  at::Tensor low, high;   //!< fp64: between what was seen there, an honest program may be
  at::Tensor may_be_nan;  //!< boolean: one was seen there
};

//! What an honest program may come to.
struct SeenResults {
  std::vector<at::Tensor> moved;       //!< the oracle, moved by what such a program may be off
  std::vector<at::Tensor> references;  //!< PyTorch's own
  //! Inputs are equal, so that steps fall anywhere, and what was seen of one element can happen to any.
  bool equal_inputs = false;
};

//! The elements of a real result that move out of proportion: by more than `usual`, and than 32 times what three in
//! four elements do in the calmest quarter of the draws.
Jumps find_jumps(const at::Tensor& exact, const SeenResults& seen, double usual);

//! The result with jumping elements replaced by those of `exact`.
at::Tensor without_jumps(const at::Tensor& result, const at::Tensor& exact, const Jumps& jumps);

//! The result with all elements as far from those of `exact` as they lie outside of what was seen, where steps are.
at::Tensor beyond_what_was_seen(const at::Tensor& result, const at::Tensor& exact, const Jumps& jumps);

}  // namespace cudal1
