#pragma once

#include <ATen/core/Tensor.h>

namespace cudal1 {

//! Where elements are equal, infinities included, or both NaN.
inline at::Tensor same_numbers(const at::Tensor& a, const at::Tensor& b) {
  return a.eq(b).logical_or(a.isnan().logical_and(b.isnan()));
}

}  // namespace cudal1
