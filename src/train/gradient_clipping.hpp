#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cudal1 {

//! Scales all gradients by the same factor, so that together they are no longer than `longest`, and returns how long
//! they were: the root of the sum of all squares, in fp32. Nobody waits for the device. Where that is not finite they
//! stay as they are, and a step is to be left out: see AdamW::step.
at::Tensor clip_by_global_norm(const std::vector<at::Tensor>& gradients, double longest);

}  // namespace cudal1
