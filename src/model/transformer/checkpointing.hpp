// Activation checkpointing: a part of the computation keeps its input only and is computed again for its gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace cudal1 {

using TensorFunction = std::function<at::Tensor(const at::Tensor&)>;

//! function(input), of which nothing but the input is kept. `parameters` are all tensors besides the input that want
//! gradients from it; one that is left out gets none. The function must compute the same each time it is called.
at::Tensor checkpointed(TensorFunction function, const at::Tensor& input, const std::vector<at::Tensor>& parameters);

}  // namespace cudal1
