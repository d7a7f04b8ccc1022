#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>

namespace cudal1 {

//! Tensors whose elements lie in the same order in memory; copies where they do not.
template <std::size_t count>
std::array<at::Tensor, count> side_by_side(std::array<at::Tensor, count> tensors) {
  const bool same_order = std::all_of(tensors.begin(), tensors.end(), [&](const at::Tensor& tensor) {
    return tensor.is_non_overlapping_and_dense() && tensor.strides() == tensors[0].strides();
  });
  if (!same_order)
    for (at::Tensor& tensor : tensors) tensor = tensor.contiguous();
  return tensors;
}

}  // namespace cudal1
