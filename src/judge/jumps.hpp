// Elements behind a step of the task: an honest program may end up on its other side.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cudal1 {

struct Jumps {
  at::Tensor elements;    //!< boolean, of the result's shape; undefined where there are none
  double farthest = 0.0;  //!< how far they move
};

//! The few elements of a real result that move out of proportion: by more than 64 times what nine in ten of them do,
//! and than `usual`. Where more than one in ten does, the whole result is that unsure, and there are none.
Jumps find_jumps(const at::Tensor& exact, const std::vector<at::Tensor>& results, double usual);

//! The result with jumping elements replaced by those of `exact`.
at::Tensor without_jumps(const at::Tensor& result, const at::Tensor& exact, const Jumps& jumps);

}  // namespace cudal1
