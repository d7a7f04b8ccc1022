#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>

namespace cudal1 {

//! Some four thousand elements spread over the tensor; all of a smaller one.
inline at::Tensor sample_of(const at::Tensor& tensor) {
  constexpr std::int64_t wanted = 4099;  // a prime, so that its steps do not fall into step with rows
  const at::Tensor all = tensor.reshape({-1});
  return all.slice(0, 0, all.numel(), std::max<std::int64_t>(1, all.numel() / wanted));
}

}  // namespace cudal1
